Creator "igraph version 0.10.4 Thu Jan  1 00:00:00 1970"
# a comment ]
Version 1
graph
[
  directed 0
  comment "brackets [ and
  lines ] in a text"
  node
  [
    id 0
    label "Ada"
    graphics [ x 1.0 y 2.0 Line [ point [ x 1 ] ] ]
  ]
  node [ id 1 label "B ]" ]
  node [ id 2 value 7 ]
  node [ id 3 ]
  edge
  [
    source 0
    target 1
    weight 2.5
  ]
  edge [ source 1 target 2 value 3 ]
  edge [ target 0 source 2 value "text" ]
]
