//! Files that do more than to be read: programs run them by themselves, or take from them what an agent may do. A new file
//! is one more pattern in a row.
//!
//! Sources and build scripts are not here: they run once somebody builds or tests the project, which is a command that a
//! person allows. The table is no wall, as that of programs is none: any program may take its settings from any file.

use std::{collections::BTreeMap, sync::LazyLock};

use super::hidden::is_hidden;
use crate::question::Risk;

/// Files that have something in common.
#[derive(Debug, PartialEq, Eq)]
pub struct ActiveFiles {
    /// What a change of one does, as it follows its name.
    pub does: &'static str,
    is_dangerous: bool,
    /// Patterns of their paths, which match at the end of a path, whatever is above it. In a part, one `*` stands for any
    /// characters. With `/` at its end, a pattern matches a folder with all that is in it.
    paths: &'static str,
}

const fn acts(does: &'static str, paths: &'static str) -> ActiveFiles {
    ActiveFiles { does, is_dangerous: false, paths }
}

const fn dangerous(does: &'static str, paths: &'static str) -> ActiveFiles {
    ActiveFiles { does, is_dangerous: true, paths }
}

const ENVIRONMENT: &str = "the programs of the project take their environment from it";

/// The table. The first row that matches counts: the dangerous ones stand first.
const TABLE: &[ActiveFiles] = &[
    // What gives rights.
    dangerous(
        "an agent takes from it what it may do without asking, and which programs it starts",
        ".claude/settings*.json .claude.json .claude/hooks/ .claude-plugin/ .claude/plugins/ managed-settings.json \
         managed-mcp.json .mcp.json mcp.json mcp_config.json mcp-config.json mcp_settings.json \
         .codex/config.toml .codex/*.config.toml .codex/hooks.json .codex/hooks/ .codex/rules/ .codex/requirements.toml \
         .gemini/settings.json .gemini/policies/ .gemini/trustedfolders.json .gemini/extensions/ .gemini/hooks/ \
         .qwen/settings*.json .qwen/trustedfolders.json .qwen/extensions/ .qwen/hooks/ \
         opencode.json opencode.jsonc .opencode/config.json .opencode/plugin/ .opencode/plugins/ .opencode/tool/ \
         .opencode/tools/ opencode/plugin/ opencode/plugins/ .config/opencode/ \
         .cursor/mcp.json .cursor/cli.json .cursor/cli-config.json .cursor/hooks.json .cursor/hooks/ \
         .cursor/permissions.json .cursor/sandbox.json .cursor/environment.json .copilot/ .github/hooks/ \
         .github/copilot/ .kiro/settings/ .kiro/hooks/ .kiro/agents/ .kimi/ .kimi-code/ .goose/ .config/goose/ \
         .aider.conf.yml .continue/config.* .continue/mcpservers/ .cline/ .roo/mcp.json .roomodes crush.json \
         .crush.json .crush/ .config/crush/ .amp/settings.json .config/amp/ .factory/settings*.json .factory/mcp.json \
         .factory/hooks/ .augment/settings.json .junie/mcp/ .junie/allowlist.json .windsurf/hooks.json .trae/mcp.json \
         .qoder/settings*.json .codebuddy/settings*.json .iflow/settings*.json .kilocodemodes .kilocode/mcp.json \
         .superset/ conductor.json .conductor/ .hermes/config.* .tabnine/mcp* \
         .amazonq/ .agents/settings.json .agents/hooks/ .vibe/config.toml",
    ),
    dangerous(
        "an editor takes from it what it runs, and what its agents may do without asking",
        ".vscode/settings.json code/user/settings.json *.code-workspace \
         .zed/settings.json .config/zed/",
    ),
    dangerous(
        "askbridge takes from it what it does with the questions of agents",
        ".askbridge.toml askbridge/config.toml",
    ),
    dangerous(
        "it decides who may log in, and what may be done on this machine",
        ".ssh/ authorized_keys authorized_keys2 sshd_config sshd_config.d/ ssh_config ssh_config.d/ sudoers sudoers.d/ \
         etc/passwd etc/shadow etc/group etc/gshadow pam.d/ polkit-1/ ld.so.preload ld.so.conf ld.so.conf.d/ .rhosts \
         hosts.equiv .k5login",
    ),
    // What runs by itself.
    acts(
        "Git runs it, or takes from it what it runs",
        ".git/ git~1/ *.git/hooks/ *.git/config .gitconfig .config/git/ .gitmodules .lfsconfig etc/gitconfig",
    ),
    acts(
        "Git runs it at the next commit, push or checkout",
        ".husky/ .githooks/ .git-hooks/ githooks/ git-hooks/ .hooks/ .pre-commit-config.yaml .pre-commit-config.yml \
         .pre-commit-hooks.yaml prek.toml lefthook.* .lefthook.* lefthook-local.* .lefthook/ .overcommit.yml .overcommit/ \
         .lintstagedrc .lintstagedrc.* lint-staged.config.* .simple-git-hooks.* simple-git-hooks.* .captainhook.json \
         captainhook.json applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg \
         commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive post-receive post-update \
         reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman \
         post-index-change proc-receive hooks/update",
    ),
    acts(
        "version control takes from it what it runs",
        ".hg/ .hgrc .svn/ .jj/ .config/jj/ .bzr/ .sl/ .pijul/",
    ),
    acts(
        "agents follow it without being told to",
        ".claude/ .codex/ .gemini/ .qwen/ .opencode/ .cursor/ .kiro/ .continue/ .roo/ .amp/ .factory/ .augment/ .junie/ \
         .windsurf/ .trae/ .agents/ .agent/ .vibe/ .zencoder/ .devin/ .openhands/ .pi/ .qoder/ .codebuddy/ \
         .iflow/ .kilocode/ .kilocoderules .kilocoderules-* .aiassistant/ .tabnine/ .lingma/ .ruler/ .warp/ .qodo/ \
         .augment-guidelines .openhands_instructions iflow.md codebuddy.md qoder.md kimi.md \
         claude.md claude.local.md agents.md agents.*.md agent.md gemini.md qwen.md copilot.md warp.md crush.md \
         replit.md skill.md .goosehints .cursorrules .windsurfrules .clinerules .clinerules/ .clinerules-* .roorules \
         .roorules-* .rules copilot-instructions.md .github/instructions/ .github/prompts/ .github/chatmodes/ \
         .github/agents/ .github/skills/ *.instructions.md *.prompt.md *.chatmode.md *.agent.md \
         .aider.model.settings.yml",
    ),
    acts(
        "an editor runs it, or takes from it what it runs",
        ".vscode/ .idea/ .zed/ .fleet/ .vs/ .nova/ .theia/ .helix/ .run/ .codesandbox/ .stackblitzrc .replit replit.nix \
         .externaltoolbuilders/ .project .settings/ nbproject/ .nvim/ .lazy.lua .neoconf.json .vimspector.json .projectile \
         .projections.json .zed.json *.iml *.ipr *.sublime-project .devcontainer/ \
         devcontainer.json .devcontainer.json .gitpod.yml .gitpod.dockerfile .ona/ .vimrc _vimrc .nvimrc .nvim.lua .exrc \
         .lvimrc .gvimrc .ideavimrc .vim/ .kakrc .dir-locals.el .dir-locals-2.el .emacs .emacs.el .emacs.d/ \
         .config/emacs/ .config/nvim/ .config/helix/ .config/code/",
    ),
    acts(
        "an editor runs it by itself while it checks the project",
        "build.rs .eslintrc.*js eslint.config.* .prettierrc.*js prettier.config.* .stylelintrc.*js stylelint.config.* \
         .luarc.json .luarc.jsonc .solargraph.yml bin/activate bin/activate.* bin/python bin/python3 node_modules/.bin/",
    ),
    acts(
        "the machines that build the project run it after the next push",
        ".github/workflows/ .github/actions/ action.yml action.yaml .gitlab-ci.yml .gitlab-ci.yaml *.gitlab-ci.yml \
         .gitlab/ci/ .circleci/ .travis.yml azure-pipelines.yml azure-pipelines.yaml .azure-pipelines/ .azuredevops/ \
         jenkinsfile jenkinsfile.* .drone.yml .drone.star .drone.jsonnet bitbucket-pipelines.yml .buildkite/ .woodpecker/ \
         .woodpecker.yml .woodpecker.yaml .forgejo/ .gitea/ appveyor.yml .appveyor.yml cloudbuild.yaml cloudbuild.yml \
         buildspec.yml buildspec.yaml .semaphore/ .teamcity/ .cirrus.yml .cirrus.star .builds/ .build.yml .tekton/ \
         .dagger/ wercker.yml codefresh.yml .codefresh/ .harness/ render.yaml amplify.yml heroku.yml railway.json railway.toml \
         .platform.app.yaml .platform/ .upsun/ .do/ .zuul.yaml .zuul.d/ .vela.yml screwdriver.yaml .evergreen.yml .packit.yaml \
         .gitlab-ci/ .ebextensions/ netlify.toml vercel.json .readthedocs.yml \
         .readthedocs.yaml",
    ),
    acts(
        "services take from it what they change, merge or ask to be reviewed after the next push",
        ".github/settings.yml codeowners renovate.json renovate.json5 \
         .renovaterc .renovaterc.json .mergify.yml .mergify/ .coderabbit.yaml .pr_agent.toml .sweep.yaml .sourcery.yaml",
    ),
    acts(
        "a shell runs it, or takes variables from it",
        ".envrc .mise.toml mise.toml mise.*.toml .mise.*.toml .mise/ .config/mise/ .rtx.toml .autoenv .autoenv.zsh \
         .direnv/ .direnvrc .config/direnv/ .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc \
         .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .xonshrc .inputrc .xinitrc \
         .bash_completion .bashrc.d/ .bashrc.* .zshrc.* .zshrc.d/ \
         bash-completion/completions/ starship.toml .fzf.bash .fzf.zsh .cargo/env .lessfilter .lesskey .dircolors \
         .xsession .xsessionrc .xprofile .pam_environment .zsh/ .oh-my-zsh/ .zimrc .p10k.zsh config.fish fish/conf.d/ \
         fish/functions/ fish/completions/ .config/fish/ nushell/*.nu *profile.ps1 profile.d/ etc/profile etc/bash.bashrc \
         etc/environment etc/zsh/ environment.d/ .tmux.conf .config/tmux/ .screenrc",
    ),
    acts(
        ENVIRONMENT,
        ".env .env.local .env.*.local .env.ci .env.dev .env.development .env.docker .env.prod .env.production .env.qa \
         .env.preview .env.shared .env.stage .env.staging .env.test .env.uat .dev.vars .dev.vars.* .flaskenv",
    ),
    acts(
        "this machine runs it by itself",
        "crontab crontabs/ cron.d/ cron.hourly/ cron.daily/ cron.weekly/ cron.monthly/ anacrontab spool/cron/ spool/at/ \
         etc/systemd/ lib/systemd/ .config/systemd/ share/systemd/ .config/autostart/ xdg/autostart/ launchagents/ \
         launchdaemons/ init.d/ rc.local rc.d/ udev/rules.d/ modprobe.d/ modules-load.d/ dbus-1/services/ \
         dbus-1/system-services/ startup/*.bat startup/*.cmd startup/*.lnk share/applications/ dispatcher.d/ \
         update-motd.d/ .forward .procmailrc .config/hypr/ .config/sway/ .config/i3/ .i3/",
    ),
    acts(
        "programs take from it what they run, or where they load it from",
        ".npmrc npmrc .yarnrc .yarnrc.yml .yarn/releases/ .yarn/plugins/ .yarn/sdks/ .pnpmfile.cjs pnpmfile.cjs \
         .pnpmfile.mjs .pnp.cjs .pnp.loader.mjs bunfig.toml .bunfig.toml .cargo/config .cargo/config.toml \
         .cargo/credentials.toml .cargo/bin/ rust-toolchain rust-toolchain.toml .rustup/ .bazelrc .bazeliskrc tools/bazel \
         .buckconfig pip.conf pip.ini .pypirc .pydistutils.cfg .condarc uv.toml site-packages/*.pth sitecustomize.py \
         usercustomize.py .pythonrc .gemrc .bundle/config .irbrc .pryrc .rspec .rakerc init.gradle init.gradle.kts \
         .gradle/init.d/ .gradle/gradle.properties gradle-wrapper.properties gradle-wrapper.jar gradlew gradlew.bat .mvn/ \
         mvnw mvnw.cmd .m2/ .sbtopts .jvmopts .sdkmanrc .terraformrc terraform.rc .ansible.cfg ansible.cfg \
         .docker/config.json .kube/config .aws/config .aws/credentials .gnupg/ .netrc .curlrc .wgetrc .psqlrc .sqliterc \
         .my.cnf .mylogin.cnf .rprofile rprofile.site .renviron .julia/config/ .ghci .iex.exs .gdbinit .lldbinit \
         .ipython/ ipython_config.py .jupyter/ .pdbrc .pdbrc.py .gdbearlyinit .mongorc.js .mongoshrc.js .tigrc .ocamlinit .erlang \
         .proverc .replyrc .octaverc .sbclrc .lein/ .clojure/ .byebugrc .rdbgrc .perltidyrc .perlcriticrc .ackrc .ripgreprc \
         .wezterm.lua .config/kitty/ .config/alacritty/ .local/bin/ \
         .config/containers/ .asdfrc .default-npm-packages",
    ),
];

impl ActiveFiles {
    /// Returns what a change of one of them risks.
    pub fn risk(&self) -> Risk {
        if self.is_dangerous { Risk::Dangerous } else { Risk::Acts }
    }

    /// Returns whether it is only the environment of the project's programs.
    pub(super) fn is_environment(&self) -> bool {
        self.does == ENVIRONMENT
    }
}

/// A pattern of the table, with the number of its row.
struct Pattern {
    row: usize,
    parts: Vec<&'static str>,
    is_folder: bool,
}

/// What the patterns are found by whose last part has a `*`.
const OPEN: &str = "*";

/// The patterns by their last part.
static PATTERNS: LazyLock<BTreeMap<&'static str, Vec<Pattern>>> = LazyLock::new(|| {
    let mut patterns: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (row, files) in TABLE.iter().enumerate() {
        for pattern in files.paths.split_ascii_whitespace() {
            let path = pattern.strip_suffix('/').unwrap_or(pattern);
            let parts: Vec<_> = path.split('/').collect();
            let last = parts.last().filter(|last| !last.contains('*')).unwrap_or(&OPEN);
            patterns.entry(*last).or_default().push(Pattern { row, is_folder: path != pattern, parts });
        }
    }
    patterns
});

impl Pattern {
    /// Returns whether it matches the last of these parts, which are those of a file or of a folder.
    fn ends(&self, parts: &[String], is_folder: bool) -> bool {
        let wanted = self.parts.iter().rev();
        (self.is_folder || !is_folder)
            && parts.len() >= self.parts.len()
            && parts.iter().rev().zip(wanted).all(|(part, wanted)| is_like(part, wanted))
    }
}

/// Returns the numbers of the rows that match parts, the last of which is not among the first ones `above`.
fn rows(parts: &[String], above: usize) -> impl Iterator<Item = usize> {
    (above + 1..=parts.len()).flat_map(move |end| {
        let found = [&*parts[end - 1], OPEN].into_iter().filter_map(|name| PATTERNS.get(name)).flatten();
        let found = found.filter(move |pattern| pattern.ends(&parts[..end], end < parts.len()));
        found.map(|pattern| pattern.row)
    })
}

/// Returns the row of the table that a file belongs to, by the name that an agent gives it or by its absolute path. The
/// folder of the session does not count, but for the names of the folders right above a file: a project may be below
/// `.claude` itself.
pub fn active(project: &str, named: &str) -> Option<&'static ActiveFiles> {
    let folder = parts(project);
    let is_elsewhere = named.starts_with(['/', '~', '$', '%', '\\']) || named.contains(':');
    let given = if is_elsewhere { parts(named) } else { [folder.clone(), parts(named)].concat() };
    let readings = [without_dots(&given), given].map(|parts| {
        let above = if parts.starts_with(&folder) { folder.len() } else { 0 };
        // Agents keep working copies of the project in their own folders.
        let copy = parts.windows(2).rposition(|pair| is_of_copies(&pair[0], &pair[1]));
        match copy.filter(|copy| copy + 3 < parts.len()) {
            Some(copy) => (parts[copy + 3..].to_vec(), above.saturating_sub(copy + 3)),
            None => (parts, above),
        }
    });
    let first = readings.iter().flat_map(|(parts, above)| rows(parts, *above)).min();
    first.and_then(|row| TABLE.get(row))
}

fn is_of_copies(folder: &str, inner: &str) -> bool {
    folder.starts_with('.') && folder != ".git" && inner == "worktrees"
}

/// Returns the parts of a path as a file system may read them: without case, without characters that cannot be seen,
/// without dots and spaces at an end, and without what stands behind a colon, a line or a stream. Which of these a file
/// system leaves out is not known here.
fn parts(path: &str) -> Vec<String> {
    let folded = |part: &str| {
        let part: String = part.chars().filter(|char| !is_hidden(*char)).collect();
        let name = part.split(':').next().unwrap_or_default();
        let name = if matches!(name, "." | "..") { name } else { name.trim_end_matches(['.', ' ']) };
        // Some letters are equal only in the other case: `ſ` and `s`.
        name.to_uppercase().to_lowercase()
    };
    path.split(['/', '\\']).map(folded).filter(|part| !part.is_empty() && part != ".").collect()
}

/// Returns parts with each `..` resolved, as far as links do not count.
fn without_dots(parts: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for part in parts {
        match &**part {
            ".." => drop(kept.pop()),
            _ => kept.push(part.clone()),
        }
    }
    kept
}

fn is_like(part: &str, wanted: &str) -> bool {
    match wanted.split_once('*') {
        Some((begin, end)) => {
            part.len() >= begin.len() + end.len() && part.starts_with(begin) && part.ends_with(end)
        }
        None => part == wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pattern_means_the_files_that_it_names() {
        for (number, row) in TABLE.iter().enumerate() {
            for pattern in row.paths.split_ascii_whitespace() {
                let file = pattern.replace('*', "x") + if pattern.ends_with('/') { "a" } else { "" };
                for named in
                    [file.clone(), file.to_uppercase(), format!("a/{file}"), format!("/p/a/./{file}")]
                {
                    assert!(active("/p", &named).is_some(), "{named}");
                    assert!(rows(&parts(&named), 0).any(|row| row == number), "{named}: {}", row.does);
                }
            }
        }
    }

    #[test]
    fn the_first_row_that_matches_is_the_worst() {
        let first = TABLE.iter().position(|row| !row.is_dangerous);
        assert!(TABLE[first.unwrap_or_default()..].iter().all(|row| !row.is_dangerous));
    }

    #[test]
    fn the_folder_of_the_session_does_not_count() {
        for (project, named, is_active) in [
            ("/people/ada/.claude/worktrees/x", "src/a.rs", false),
            ("/people/ada/.claude/worktrees/x", "/people/ada/.claude/worktrees/x/src/a.rs", false),
            ("/people/ada/.claude/worktrees/x", "/people/ada/.claude/worktrees/x/.envrc", true),
            ("/people/ada/.claude/worktrees/x", "../../settings.json", true),
            ("/people/ada/.claude", "settings.json", true),
            ("/people/ada/.claude", "notes.txt", false),
            ("/people/ada/.claude", "../.ssh/config", true),
            ("/people/ada/.config/nvim", "lua/a.lua", false),
            ("/people/ada/.config/nvim", "/people/ada/.config/nvim2/a", false),
            ("/people/ada/shop", ".claude/worktrees/x/src/a.rs", false),
            ("/people/ada/shop", ".claude/worktrees/a", true),
            ("/people/ada/shop", ".claude/worktrees/x/.claude/a.md", true),
            ("", "/people/ada/shop/.git/config", true),
            ("", ".git/config", true),
        ] {
            assert_eq!(active(project, named).is_some(), is_active, "{project} {named}");
        }
    }
}
