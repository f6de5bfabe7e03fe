! Reads `count` transfers of `size` bytes, unformatted; makes one run and prints one line with its cost.
! Arguments: sequential, stream or direct; path; size, a multiple of eight; count.
program transfer
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
  implicit none
  interface
    integer(c_int) function getrusage(who, usage) bind(c)
      import :: c_int, c_int64_t
      integer(c_int), value :: who
      integer(c_int64_t), intent(out) :: usage(32)
    end function
  end interface
  character(len=4096) :: method, path, text
  integer(int64) :: transfers, start, finish, ticks, checksum, number, words
  integer(c_int64_t) :: before(32), after(32)
  integer(int64), allocatable :: buffer(:)
  integer :: bytes, status

  if (command_argument_count() /= 4) stop
  call get_command_argument(1, method)
  call get_command_argument(2, path)
  call get_command_argument(3, text)
  read (text, *) bytes
  call get_command_argument(4, text)
  read (text, *) transfers
  words = bytes / 8
  allocate (buffer(words))
  buffer = 0
  checksum = 0

  status = getrusage(0_c_int, before)
  call system_clock(start, ticks)
  select case (method)
  case ('sequential')
    open (10, file=trim(path), form='unformatted', access='sequential', status='old', action='read')
    do number = 1, transfers
      read (10) buffer
      checksum = checksum + buffer(1) + buffer(words)
    end do
  case ('stream')
    open (10, file=trim(path), form='unformatted', access='stream', status='old', action='read')
    do number = 1, transfers
      read (10) buffer
      checksum = checksum + buffer(1) + buffer(words)
    end do
  case ('direct')
    open (10, file=trim(path), form='unformatted', access='direct', recl=bytes, status='old', action='read')
    do number = 1, transfers
      read (10, rec=number) buffer
      checksum = checksum + buffer(1) + buffer(words)
    end do
  case default
    write (error_unit, '(a)') 'no such method'
    stop 2
  end select
  close (10)
  call system_clock(finish)
  status = getrusage(0_c_int, after)

  write (*, '(a,f0.9,a,f0.6,a,f0.6,4(a,i0),a,i0)') &
    'wall=', real(finish - start, c_double) / real(ticks, c_double), &
    ' user=', seconds(after, 1) - seconds(before, 1), &
    ' system=', seconds(after, 3) - seconds(before, 3), &
    ' minor=', after(9) - before(9), ' major=', after(10) - before(10), &
    ' operations=', transfers, ' bytes=', transfers * bytes, ' checksum=', checksum

contains

  ! Seconds of the `timeval` at a place of the result; its second half may have only 32 bits.
  pure real(c_double) function seconds(usage, at)
    integer(c_int64_t), intent(in) :: usage(32)
    integer, intent(in) :: at
    seconds = real(usage(at), c_double) + 1e-6_c_double * real(iand(usage(at + 1), 4294967295_c_int64_t), c_double)
  end function
end program
