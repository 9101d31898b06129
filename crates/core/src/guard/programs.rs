//! The programs that make a command dangerous, in groups with one reason each. A new program is one more word in a
//! group.
//!
//! The table is no wall: a project's own script may do all of this. It names programs that are known to do harm, so
//! that a rule does not leave it open, and a person does not allow it in passing.

/// Programs that have something in common.
#[derive(Debug, PartialEq, Eq)]
pub struct Programs {
    /// Their effect, as it follows the name of a program: "`rm` removes files".
    pub does: &'static str,
    does_harm: bool,
    runs: Option<RunArgument>,
    takes: Takes,
    names: &'static str,
    /// Words of which the arguments must contain one. Without words, the name alone is enough.
    words: &'static str,
    /// Exceptions, separated by commas: arguments that begin with one of them do no harm, whatever words follow. An
    /// exception with `$` at its end must match all of the arguments.
    except: &'static str,
}

/// Which argument says what a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunArgument {
    /// Any of them.
    Any,
    /// The first, if it is an option or one of the group's words. The arguments after it belong to the program that
    /// then runs.
    First,
}

/// The way in which a program gets the command that it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// The words of a command.
    Words,
    /// Words, and the text of a command.
    Text,
    /// The text of a command; without an argument, the program's input.
    TextOrInput,
    /// Code in the program's own language; without an argument, the program's input.
    CodeOrInput,
}

/// The defaults of a group.
const NONE: Programs = Programs {
    does: "",
    does_harm: false,
    runs: None,
    takes: Takes::Words,
    names: "",
    words: "",
    except: "",
};

/// Programs that do harm, or may.
const fn harm(does: &'static str, names: &'static str) -> Programs {
    Programs { does, does_harm: true, names, ..NONE }
}

/// Programs that do harm if one of these words is among their arguments.
const fn harm_with(does: &'static str, names: &'static str, words: &'static str) -> Programs {
    Programs { does, does_harm: true, names, words, ..NONE }
}

/// Programs that run their arguments: a rule that leaves the arguments open allows any command.
const fn runner(does: &'static str, takes: Takes, names: &'static str) -> Programs {
    Programs { does, runs: Some(RunArgument::Any), takes, names, ..NONE }
}

/// Programs that run what their arguments say, if the first one is an option or one of these words.
const fn first_runner(does: &'static str, names: &'static str, words: &'static str) -> Programs {
    Programs { does, runs: Some(RunArgument::First), names, words, ..NONE }
}

/// Programs that run what their arguments say, and do harm if one of these words is among them.
const fn harmful_runner(does: &'static str, names: &'static str, words: &'static str) -> Programs {
    Programs { does, does_harm: true, runs: Some(RunArgument::Any), names, words, ..NONE }
}

/// The table.
const TABLE: &[Programs] = &[
    // Programs that run their arguments.
    runner(
        "runs what its arguments say, as every shell",
        Takes::TextOrInput,
        "ash bash busybox cmd csh dash elvish fish ksh mksh nu osh powershell pwsh rbash rc sh tcsh \
         toybox xonsh yash zsh",
    ),
    runner(
        "runs another program",
        Takes::Words,
        ". builtin bwrap capsh catchsegv choom chronic chrt chroot command coproc cpulimit dbus-run-session \
         entr env exec fakeroot faketime firejail flock ifne ionice logsave ltrace nice nodemon nohup nsenter \
         numactl perf prlimit proot proxychains proxychains4 rlwrap run-parts script setarch setlock setpriv \
         setsid sg softlimit source ssh-agent start-stop-daemon stdbuf strace systemd-run taskset time timeout \
         torify torsocks unbuffer unshare valgrind xargs xvfb-run",
    ),
    runner(
        "runs the commands that its arguments say",
        Takes::Text,
        "ansible concurrently eval hyperfine npm-run-all parallel trap watch watchexec",
    ),
    runner(
        "runs a program on another machine, or in a container or window of its own",
        Takes::Words,
        "docker incus kubectl lxc machinectl nerdctl oc podman",
    ),
    runner(
        "runs a program on another machine, or in a container or window of its own",
        Takes::Text,
        "mosh screen ssh tmux vagrant zellij",
    ),
    runner(
        "runs code that it fetches, or that its arguments name",
        Takes::Words,
        "bunx corepack npx pipx pnpx uvx",
    ),
    runner("runs code that it fetches, or that its arguments name", Takes::Text, "nix nix-shell"),
    first_runner(
        "runs code that it fetches, or that its arguments name",
        "bun npm pnpm uv yarn",
        "dlx exec explore tool x",
    ),
    first_runner(
        "runs the program that its arguments name",
        "asdf bundle conda direnv dotenv hatch mamba mise pdm pipenv poetry rye uv",
        "exec run x",
    ),
    Programs {
        runs: Some(RunArgument::First),
        takes: Takes::CodeOrInput,
        ..harm_with(
            "runs code that its arguments hold",
            "bun deno elixir erl ghci groovy guile julia lua luajit node nodejs osascript perl php python \
             python2 python3 rscript ruby tclsh",
            "-c -e -E -p -r --eval --print eval",
        )
    },
    runner(
        "runs programs that its arguments name",
        Takes::Words,
        "awk gawk gsed m4 make gmake mawk nawk rsync sed tar zip",
    ),
    harmful_runner(
        "runs programs that its arguments name",
        "ed emacs ex expect gdb jshell lldb nvim vi vim vimdiff",
        "",
    ),
    harmful_runner(
        "runs the statements of its arguments",
        "duckdb mariadb mongo mongosh mysql psql redis-cli sqlite3 sqlplus",
        "",
    ),
    harmful_runner(
        "runs a program for each file that it finds, or removes them",
        "find gfind",
        "-delete -exec -execdir -fls -fprint -fprint0 -fprintf -ok -okdir",
    ),
    harmful_runner("runs a program for each file that it finds", "fd fdfind", "-x -X --exec --exec-batch"),
    harmful_runner(
        "runs a program that its options name",
        "tar",
        "-F -I --checkpoint-action --info-script --new-volume-script --rmt-command --rsh-command --to-command \
         --use-compress-program",
    ),
    harm_with("runs a program that its options name", "rg", "--pre --hostname-bin"),
    harm_with("runs a program that its options name", "sort", "--compress-program"),
    harm_with("runs a program that its options name", "split", "--filter"),
    harm_with("runs a program that its options name", "man", "-P -H --pager --html"),
    harm_with("runs a program that its options name", "go", "-exec -toolexec -vettool"),
    harm_with("removes files", "cmake", "rm remove remove_directory"),
    Programs {
        runs: Some(RunArgument::First),
        // After these commands, `-c` is an option of the command, and not Git's own, which sets any configuration.
        except: "commit,diff,log,show,switch",
        ..harm_with(
            "runs programs that its options name",
            "git",
            "-c --config-env --exec-path bisect difftool filter-branch hook mergetool",
        )
    },
    harm_with(
        "runs programs that its options name",
        "git",
        "-O --ext-diff --extcmd --open-files-in-pager --output --receive-pack --textconv --upload-pack",
    ),
    // Builtins that change how later commands are read.
    harm("changes what later commands run", "alias bind complete enable hash unalias"),
    runner("changes what later commands run", Takes::Words, "declare export local readonly set typeset"),
    // Programs that ask for more rights.
    harmful_runner(
        "runs with the rights of another user",
        "doas gosu pkexec runas runuser su su-exec sudo sudoedit",
        "",
    ),
    harm(
        "changes who may do what",
        "adduser chattr chgrp chmod chown chpasswd deluser gpasswd groupadd icacls passwd setcap setfacl \
         takeown useradd userdel usermod visudo xattr",
    ),
    harm(
        "changes the system",
        "apt apt-get at batch bcdedit brew crontab dnf dpkg insmod ip iptables kexec launchctl modprobe \
         mount nft pacman reg rmmod rpm sc schtasks service snap swapoff sysctl systemctl ufw umount \
         update-alternatives yum zypper apk",
    ),
    // Programs that destroy.
    harm(
        "removes or moves files",
        "del del-cli erase mv move rd remove-item ren rename rimraf rm rmdir shred srm trash truncate unlink \
         wipe",
    ),
    harm(
        "overwrites disks or files",
        "badblocks blkdiscard cfdisk dd diskpart diskutil fdisk format hdparm losetup lvremove mkfs \
         mkswap parted pvremove sfdisk sgdisk vgremove wipefs zpool",
    ),
    harm(
        "ends other processes, or the machine",
        "halt init kill killall pkill poweroff reboot shutdown skill stop-process taskkill telinit xkill",
    ),
    Programs {
        except: "stash list,stash show,worktree list,reflog$",
        ..harm_with(
            "discards uncommitted changes, or rewrites history",
            "git hub jj hg sl",
            "checkout clean filter-branch filter-repo gc prune rebase reflog reset restore rm mv stash \
             update-ref replace worktree abandon strip -D --delete --amend --discard-changes",
        )
    },
    harm_with(
        "destroys what it manages",
        "terraform tofu pulumi cdk serverless sls helm",
        "apply destroy delete uninstall rollback up upgrade install deploy remove",
    ),
    harm("removes a database, or what is in it", "dropdb dropuser pg_restore pg_resetwal flyway liquibase"),
    // Programs that send data to other machines.
    harm_with("publishes", "git hub jj hg sl", "push send-email request-pull"),
    Programs {
        except: "config --get,config --list,config -l,config get,config list,remote show,remote get-url,\
                 remote$,remote -v$,submodule status",
        ..harm_with("changes how Git works", "git", "config submodule remote")
    },
    harm_with(
        "publishes, or speaks for you",
        "bun cargo deno gem hatch lerna mvn npm nx pnpm poetry flit uv yarn gradle dotnet nuget composer \
         vsce",
        "access deploy dist-tag login logout nuget owner publish push release deprecate token unpublish \
         yank adduser --token",
    ),
    harm(
        "publishes, or speaks for you",
        "twine gh glab tea az aws doctl firebase fly flyctl gcloud gsutil heroku netlify railway vercel \
         wrangler surge sendmail mail mailx mutt msmtp",
    ),
    harm(
        "copies files to or from another machine",
        "ftp lftp rclone rsync scp sftp tftp croc magic-wormhole wormhole",
    ),
    harm("opens a connection of any kind", "nc ncat netcat socat telnet websocat ngrok cloudflared openssl"),
    harm_with(
        "sends data, or reads its options from a file",
        "curl http https wget xh",
        "-d -F -K -T -X --body-data --body-file --config --data --execute --form --json --method \
         --post-data --post-file --request --upload-file DELETE PATCH POST PUT",
    ),
    // Files and programs with secrets.
    harm(
        "shows or changes secrets",
        "gpg gpg2 pass op bw vault security secret-tool ssh-add ssh-keygen keychain age sops \
         kwallet-query",
    ),
    // An agent must not run askbridge, which can answer in the person's place.
    harm("answers in your place", "askbridge"),
];

/// Returns why a command may do harm, by its program and its arguments. The words are those of the command, without the
/// assignments before its program.
pub fn harmful(words: &[String]) -> Option<&'static Programs> {
    let (program, arguments) = words.split_first()?;
    let name = name(program);
    TABLE.iter().find(|group| group.does_harm && group.has(&name) && group.is_meant(arguments))
}

/// Returns why these words, with any further ones, could run any program. An argument that may be anything is `None`.
pub fn left_open(program: &str, arguments: &[Option<&str>]) -> Option<&'static Programs> {
    let name = name(program);
    TABLE.iter().filter(|group| group.has(&name)).find(|group| match group.runs {
        None => false,
        Some(RunArgument::Any) => true,
        Some(RunArgument::First) => match arguments {
            [] | [None, ..] => true,
            // The program's options are not known here, so any of them may name a program.
            [Some(first), ..] if first.starts_with('-') => true,
            // The next word is the command that runs: a rule may name it.
            [Some(first), rest @ ..] if group.has_word(first) => match rest {
                [Some(program), arguments @ ..] if !program.starts_with('-') => {
                    left_open(program, arguments).is_some()
                }
                _ => true,
            },
            _ => false,
        },
    })
}

/// Returns the way in which a program gets its command, if these arguments may have one.
pub(super) fn runs(program: &str, arguments: &[String]) -> Option<Takes> {
    let name = name(program);
    let says_it = |group: &&Programs| match group.runs {
        None => false,
        Some(RunArgument::Any) => true,
        Some(RunArgument::First) => {
            group.takes == Takes::CodeOrInput || arguments.iter().any(|word| group.has_word(word))
        }
    };
    let groups = TABLE.iter().filter(|group| group.has(&name)).filter(says_it);
    groups.map(|group| group.takes).max_by_key(|takes| *takes as u8)
}

/// Returns the name of a program in lower case, without its folder and without the file extension of Windows.
pub fn name(program: &str) -> String {
    // On file systems that ignore case, `RM` runs `rm`.
    let file = program.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    match [".exe", ".cmd", ".bat", ".com", ".ps1"].iter().find_map(|end| file.strip_suffix(end)) {
        Some(name) => name.to_owned(),
        None => file,
    }
}

impl Programs {
    fn has(&self, name: &str) -> bool {
        // `python3.12` is a python, and `mkfs.ext4` an mkfs.
        let stem = name.split('.').find(|stem| !stem.is_empty()).unwrap_or(name);
        self.names.split(' ').any(|known| known == name || known == stem)
    }

    fn has_word(&self, word: &str) -> bool {
        self.words.split(' ').any(|known| !known.is_empty() && is_like(word, known))
    }

    fn is_meant(&self, arguments: &[String]) -> bool {
        let begins = |beginning: &str| {
            let words: Vec<_> = beginning.trim_end_matches('$').split(' ').collect();
            let has_length = !beginning.ends_with('$') || words.len() == arguments.len();
            has_length
                && words.len() <= arguments.len()
                && words.iter().zip(arguments).all(|(word, given)| word == given)
        };
        match self.words.is_empty() {
            true => true,
            false => arguments.iter().any(|word| self.has_word(word)) && !self.except.split(',').any(begins),
        }
    }
}

/// Returns whether an argument is a known word: the same, an option that has its value in the same word or is
/// shortened, or several short options in one.
fn is_like(word: &str, known: &str) -> bool {
    let is_short = known.len() == 2 && known.starts_with('-') && !word.starts_with("--");
    match word.strip_prefix(known) {
        Some(rest) => {
            let is_long = known.len() > 2 && known.starts_with('-');
            rest.is_empty() || is_short || (is_long && rest.starts_with(['=', '-']))
        }
        None if is_short => word.starts_with('-') && word.contains(&known[1..]),
        // Programs take the beginning of a long option for the whole, and some take one dash for two.
        None => {
            let name = word.split('=').next().unwrap_or_default();
            let is_shortened = name.len() > 2 && name.starts_with("--") && known.starts_with(name);
            is_shortened || (known.starts_with('-') && name.strip_prefix('-') == Some(known))
        }
    }
}
