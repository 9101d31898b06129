//! The programs that a person looks at twice, each group with its reason. A newcomer can add a line.
//!
//! The table is no wall: a project's own script may do all of this. It names what is known to do harm, so that a rule
//! does not leave it open, and a person does not allow it in passing.

/// Programs that have something in common.
#[derive(Debug, PartialEq, Eq)]
pub struct Programs {
    /// What they do, behind the name of the program: "`rm` removes files".
    pub does: &'static str,
    does_harm: bool,
    runs: Option<Runs>,
    names: &'static str,
    /// Words that have to be among the arguments, of which one is enough. Without any, the name is.
    words: &'static str,
}

/// Which argument says what a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runs {
    /// Any of them.
    Any,
    /// The first, if it is an option or one of the words of the group: what follows is for what then runs.
    First,
}

/// Programs that do harm, or may.
const fn harm(does: &'static str, names: &'static str) -> Programs {
    harm_with(does, names, "")
}

/// Programs that do harm where one of these words is among their arguments.
const fn harm_with(does: &'static str, names: &'static str, words: &'static str) -> Programs {
    Programs { does, does_harm: true, runs: None, names, words }
}

/// Programs that run what their arguments say: whoever leaves those open leaves everything open.
const fn runner(does: &'static str, names: &'static str) -> Programs {
    Programs { does, does_harm: false, runs: Some(Runs::Any), names, words: "" }
}

/// Programs that run what their arguments say, and do harm where one of these words is among them.
const fn harmful_runner(
    does: &'static str,
    runs: Runs,
    names: &'static str,
    words: &'static str,
) -> Programs {
    Programs { does, does_harm: true, runs: Some(runs), names, words }
}

/// The table.
const TABLE: &[Programs] = &[
    // What runs what its arguments say.
    runner(
        "runs what its arguments say, as every shell",
        "ash bash busybox cmd csh dash elvish fish ksh mksh nu osh powershell pwsh rbash rc sh tcsh \
         toybox xonsh yash zsh",
    ),
    runner(
        "runs another program",
        ". builtin bwrap chrt chroot command coproc entr env eval exec expect firejail flock gdb ionice \
         lldb ltrace nice nohup nsenter parallel perf prlimit proot proxychains rlwrap script setarch \
         setpriv setsid source start-stop-daemon stdbuf strace systemd-run taskset time timeout trap \
         unshare valgrind watch watchexec xargs",
    ),
    runner(
        "runs a program on another machine, or in a container or window of its own",
        "ansible docker incus kubectl lxc machinectl mosh nerdctl oc podman screen ssh tmux vagrant \
         zellij",
    ),
    runner(
        "runs code that it fetches, or that its arguments name",
        "bunx corepack nix nix-shell npx pipx pnpx uvx",
    ),
    Programs {
        does: "runs code that it fetches, or that its arguments name",
        does_harm: false,
        runs: Some(Runs::First),
        names: "npm pnpm uv yarn",
        words: "dlx exec explore tool x",
    },
    harmful_runner(
        "runs code that its arguments hold",
        Runs::First,
        "bun deno elixir erl ghci groovy guile julia lua luajit node nodejs osascript perl php python \
         python2 python3 rscript ruby tclsh",
        "- -c -e -E -p -r --eval --print eval",
    ),
    runner(
        "runs programs that its arguments name",
        "awk ed emacs ex gawk gsed jshell m4 make gmake mawk nawk nvim rsync sed tar vi vim zip",
    ),
    harmful_runner(
        "runs the statements of its arguments",
        Runs::Any,
        "duckdb mariadb mongo mongosh mysql psql redis-cli sqlite3 sqlplus",
        "",
    ),
    harmful_runner(
        "runs a program for each file that it finds, or removes them",
        Runs::Any,
        "find gfind",
        "-delete -exec -execdir -fls -fprint -fprint0 -fprintf -ok -okdir",
    ),
    harmful_runner(
        "runs a program for each file that it finds",
        Runs::Any,
        "fd fdfind",
        "-x -X --exec --exec-batch",
    ),
    harmful_runner(
        "runs a program that its options name",
        Runs::Any,
        "tar",
        "--checkpoint-action --to-command --use-compress-program",
    ),
    // What asks for more rights.
    harmful_runner(
        "runs with the rights of another user",
        Runs::Any,
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
    // What destroys.
    harm(
        "removes or moves files",
        "del erase mv move rd remove-item ren rename rm rmdir shred srm trash truncate unlink wipe",
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
    harm_with(
        "throws away what is not committed, or rewrites history",
        "git hub jj hg sl",
        "checkout clean filter-branch filter-repo gc prune rebase reflog reset restore rm mv stash \
         update-ref replace worktree abandon strip -D --delete --amend",
    ),
    harm_with(
        "destroys what it manages",
        "terraform tofu pulumi cdk serverless sls helm",
        "apply destroy delete uninstall rollback up upgrade install deploy remove",
    ),
    harm("removes a database, or what is in it", "dropdb dropuser pg_restore pg_resetwal flyway liquibase"),
    // What leaves the machine.
    harm_with("publishes", "git hub jj hg sl", "push send-email request-pull"),
    harm_with(
        "changes how Git works",
        "git",
        "config -c --config-env --exec-path --upload-pack submodule remote",
    ),
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
        "sends data, or has settings that are not shown",
        "curl http https wget xh",
        "-d -F -K -T -X --body-data --body-file --config --data --execute --form --json --method \
         --post-data --post-file --request --upload-file DELETE PATCH POST PUT",
    ),
    // What a person keeps secret.
    harm(
        "shows or changes secrets",
        "gpg gpg2 pass op bw vault security secret-tool ssh-add ssh-keygen keychain age sops \
         kwallet-query",
    ),
    // askbridge decides for the person: an agent is not to run it.
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
    TABLE.iter().find(|group| {
        group.has(&name)
            && match group.runs {
                None => false,
                Some(Runs::Any) => true,
                Some(Runs::First) => arguments
                    .first()
                    .copied()
                    .flatten()
                    .is_none_or(|first| first.starts_with('-') || group.has_word(first)),
            }
    })
}

/// Returns whether a program runs what its arguments say.
pub fn is_runner(program: &str) -> bool {
    let name = name(program);
    TABLE.iter().any(|group| group.runs.is_some() && group.has(&name))
}

/// Returns the name of a program: without its folder, in small letters, without the ending that Windows gives it.
pub fn name(program: &str) -> String {
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
        self.words.is_empty() || arguments.iter().any(|word| self.has_word(word))
    }
}

/// Returns whether an argument is a known word: the same, an option that has its value in the same word, or several short
/// options in one.
fn is_like(word: &str, known: &str) -> bool {
    let is_short = known.len() == 2 && known.starts_with('-') && !word.starts_with("--");
    match word.strip_prefix(known) {
        Some(rest) => rest.is_empty() || is_short || known.starts_with("--") && rest.starts_with(['=', '-']),
        None => is_short && word.starts_with('-') && word.contains(&known[1..]),
    }
}
