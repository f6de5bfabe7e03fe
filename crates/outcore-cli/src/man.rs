//! Manual pages, generated from the help of the commands: `outcore man lab tune` prints `outcore-lab-tune(1)`.

use crate::args::{Cli, Pages, unknown_command, words};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use outcore::io::Files;
use outcore::{Error, Result};
use std::path::Path;

/// Returns the page to print; `None` if all pages were written to a directory.
///
/// # Errors
/// `Usage` for an unknown command; `Io` for a directory that cannot be written to.
pub(crate) fn pages(files: &Files, arguments: &Pages) -> Result<Option<Vec<u8>>> {
    let root = commands();
    let Some(directory) = &arguments.dir else {
        return page(find(&root, &arguments.command)?).map(Some);
    };
    if files.entry(directory).is_err() {
        files.create_directory(directory)?;
    }
    for command in all(&root) {
        files.write(&directory.join(format!("{}.1", title(command))), &page(command)?)?;
    }
    Ok(None)
}

/// Returns the command, with full names in all subcommands.
fn commands() -> Command {
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    root
}

/// Returns a command and all its subcommands, recursively.
fn all(command: &Command) -> Vec<&Command> {
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    std::iter::once(command).chain(below.flat_map(all)).collect()
}

fn find<'a>(root: &'a Command, names: &[String]) -> Result<&'a Command> {
    names.iter().try_fold(root, |command, name| {
        command.find_subcommand(name).ok_or_else(|| unknown_command(command, name))
    })
}

/// Returns the name of a command's page, such as `outcore-lab-tune`.
fn title(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn page(command: &Command) -> Result<Vec<u8>> {
    let source = concat!("outcore ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).source(source).manual("Manual of outcore");
    let mut page = Vec::new();
    man.render_title(&mut page)
        .and_then(|()| man.render_name_section(&mut page))
        .and_then(|()| man.render_synopsis_section(&mut page))
        .and_then(|()| man.render_options_section(&mut page))
        .and_then(|()| match command.has_subcommands() {
            true => man.render_subcommands_section(&mut page),
            false => Ok(()),
        })
        .and_then(|()| last_sections(command).to_writer(&mut page))
        .map_err(|e| Error::io("write", Path::new("-"), e))?;
    Ok(page)
}

/// Returns the sections at the end of a page: first the end of the help, in which a line that ends in a colon is the
/// heading of the indented lines below it, then a reference to the page of the parent command.
fn last_sections(command: &Command) -> Roff {
    let mut roff = Roff::default();
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut is_open = false;
    for line in help.lines().chain([""]) {
        match line.strip_suffix(':') {
            Some(heading) if !line.starts_with(' ') => {
                roff.control("SH", [heading.to_uppercase().as_str()]);
                roff.control("nf", []);
                is_open = true;
            }
            _ if line.is_empty() && is_open => {
                roff.control("fi", []);
                is_open = false;
            }
            _ if is_open => {
                roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
            }
            // The last section refers to more information.
            _ => {}
        }
    }
    if let Some((parent, _)) = words(command).rsplit_once(' ') {
        roff.control("SH", ["SEE ALSO"]);
        roff.text([bold(parent.replace(' ', "-")), roman("(1)")]);
    }
    roff
}

#[cfg(test)]
mod tests {
    use super::*;
    use outcore::ErrorKind;

    #[test]
    fn every_command_has_a_page_of_its_own() {
        let root = commands();
        let commands = all(&root);
        assert!(commands.len() > 10);
        for command in commands {
            let name = title(command);
            let names: Vec<String> = name.split(' ').map(str::to_owned).collect();
            assert_eq!(names.len(), 1, "a page's name has no space");
            let text = String::from_utf8(page(command).unwrap()).unwrap();
            let quoted = name.replace('-', "\\-");
            assert!(text.contains(&format!(".TH {name} 1")), "{name}: {text}");
            assert!(text.contains(".SH SYNOPSIS") && text.contains(&quoted), "{name}: {text}");
            let about = command.get_about().expect("every command has a description").to_string();
            let first = about.split(' ').next().unwrap();
            assert!(text.contains(&format!("{quoted} \\- {first}")), "{name}: {text}");
            for option in command.get_arguments().filter_map(|option| option.get_long()) {
                let long = format!("\\-\\-{}", option.replace('-', "\\-"));
                assert!(text.contains(&long), "{name} lacks --{option}");
            }
        }
    }

    #[test]
    fn pages_are_found_by_the_words_of_their_command() {
        let root = commands();
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(title(find(&root, &[]).unwrap()), "outcore");
        assert_eq!(
            title(find(&root, &words("generate planted")).unwrap()),
            "outcore-generate-planted"
        );
        for (unknown, message) in [
            ("clustr", "`outcore` has no command `clustr`"),
            ("generate clusters", "`outcore generate` has no command `clusters`"),
            ("cluster all", "`outcore cluster` has no command `all`"),
        ] {
            let error = find(&root, &words(unknown)).unwrap_err();
            assert_eq!((error.kind(), error.message()), (ErrorKind::Usage, message));
            assert!(error.hint_text().is_some());
        }
    }

    #[test]
    fn all_pages_are_written_to_a_directory() {
        let directory = tempfile::tempdir().unwrap();
        let dir = directory.path().join("man1");
        let arguments = Pages { command: Vec::new(), dir: Some(dir.clone()) };
        assert_eq!(pages(&Files::default(), &arguments).unwrap(), None);
        let written = Files::default().read(&dir.join("outcore-cluster.1")).unwrap();
        assert!(written.starts_with(b".ie"), "{}", String::from_utf8_lossy(&written));
        assert_eq!(Files::default().list(&dir).unwrap().len(), all(&commands()).len());
    }
}
