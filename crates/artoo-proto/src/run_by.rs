//! Names of files that other programs run or read as settings without being asked: one reviewed table.

use std::path::Path;
use std::sync::LazyLock;

/// Patterns of file names that other programs run or read as settings, in groups with the reason of each. `*` matches
/// any characters within a name. A pattern that ends with `/` matches the folder and all below it, any other the last
/// names of a path. Letter case is ignored. The table leaves out names that ordinary source or text files often have,
/// and files that are read only by a command that names them.
const TABLE: [(&str, &str); 15] = [
    (
        "a shell runs it when it starts",
        ".bash_profile .bash_login .bash_logout .bash_aliases .bash_completion .profile .zshenv .zprofile .zlogin .zlogout \
         .login .logout .aliases *.fish .oh-my-zsh/ bash_completion.d/ bash-completion/ site-functions/ profile.d/ \
         config.nu env.nu .selected_editor",
    ),
    (
        "the desktop or the login runs it",
        ".xsession .xprofile .pam_environment .xresources .xdefaults *.desktop .directory desktop.ini autorun \
         autorun.inf autorun.sh .autorun autostart/ systemd/system/ systemd/user/ environment.d/ LaunchAgents/ \
         LaunchDaemons/ dbus-1/ udev/rules.d/ .i3/ .fluxbox/ .xmonad/ .hammerspoon/ .wezterm.lua .rhosts .shosts \
         .k5login crontab anacrontab cron.d/ cron.daily/ cron.hourly/ cron.weekly/ cron.monthly/ *.cron",
    ),
    (
        "a shell or a tool runs or obeys it in the folder it lies in",
        ".env .env.* .flaskenv .autoenv .autoenv.* .mise/ mise.toml mise.*.toml .mise.toml .mise.*.toml .tool-versions \
         .rtx.toml shell.nix default.nix flake.nix flake.lock .*-version .ruby-gemset rust-toolchain rust-toolchain.toml \
         devbox.json devenv.nix .devcontainer/ *devcontainer.json .gitpod.yml .gitpod.Dockerfile .tmux.conf .byobu/ \
         .tmuxinator.yml .tmuxp.yaml Procfile Procfile.* Brewfile .replit replit.nix .idx/ .direnv/ .gnuplot .lessfilter .terminfo/ .latexmkrc latexmkrc",
    ),
    (
        "make or another build tool runs it",
        "Makefile Makefile.in Makefile.am GNUmakefile BSDmakefile *.mk *.mak Kbuild CMakeLists.txt *.cmake \
         CMakePresets.json CMakeUserPresets.json meson.build meson.options meson_options.txt build.ninja SConstruct \
         SConscript wscript configure configure.ac configure.in config.site xmake.lua premake5.lua conanfile.py \
         conanfile.txt vcpkg.json Justfile .justfile Taskfile.yml Taskfile.yaml build.zig build.zig.zon build.rs \
         Cargo.toml .cargo/ rust-analyzer.toml .rust-analyzer.toml *.gradle *.gradle.kts gradle.properties gradle/ \
         gradlew gradlew.bat mvnw mvnw.cmd pom.xml .mvn/ build.xml *.sbt .sbtopts .jvmopts build.sc build.mill BUILD \
         BUILD.bazel WORKSPACE WORKSPACE.bazel MODULE.bazel *.bzl BUCK .buckconfig pants.toml dune dune-project *.opam \
         *.csproj *.fsproj *.vbproj *.vcxproj *.sln *.slnx *.targets *.props nuget.config global.json omnisharp.json \
         packages.config mix.exs .*.exs rebar.config rebar.config.script .erlang *.cabal cabal.project \
         cabal.project.local stack.yaml package.yaml Setup.hs Package.swift Podfile *.podspec Cartfile fastlane/ \
         *.xcodeproj/ *.xcworkspace/ *.pro *.pri *.nimble config.nims nim.cfg shard.yml dub.json dub.sdl pubspec.yaml \
         project.clj profiles.clj deps.edn bb.edn user.clj .clj-kondo/ Makefile.PL Build.PL cpanfile debian/rules \
         dodo.py fabfile.py noxfile.py tox.ini tox.toml toxfile.py Snakefile nextflow.config Makefile.toml Taskfile.dist.yml \
         Taskfile.dist.yaml rakefile.rb rakelib/ Jamroot Jamroot.* Jamfile Jamfile.* project-root.jam Tupfile Tupfile.* \
         Tuprules.* .gn *.gni mkdocs.yml mkdocs.yaml book.toml _config.yml magefile.go magefiles/ pavement.py REPO.bazel",
    ),
    (
        "a container or deployment tool runs it",
        "Dockerfile Dockerfile.* *.dockerfile Containerfile Containerfile.* docker-compose*.yml docker-compose*.yaml \
         compose.yml compose.yaml compose.*.yml compose.*.yaml docker-bake.* Vagrantfile .vagrant/ Earthfile Tiltfile \
         skaffold.yaml *.tf *.tf.json *.tofu *.tfvars terragrunt.hcl .terraform/ .terraform.d/ .terraform.lock.hcl \
         Pulumi.yaml cdk.json serverless.yml fly.toml vercel.json netlify.toml wrangler.toml wrangler.json* ansible.cfg",
    ),
    (
        "node or its package managers run or obey it",
        "package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb .pnpmfile.cjs \
         .pnp.cjs .pnp.loader.mjs pnpm-workspace.yaml .yarn/ node_modules/ bunfig.toml deno.json deno.jsonc deno.lock \
         lerna.json nx.json turbo.json tsconfig.json jsconfig.json babel.config.* *.config.js *.config.cjs *.config.mjs \
         *.config.ts *.config.cts *.config.mts *.conf.js gulpfile.* Gruntfile.* bower.json nodemon.json .storybook/ \
         angular.json rush.json *.conf.cjs *.conf.mjs *.conf.ts",
    ),
    (
        "python runs or obeys it",
        "*.pth *.egg-link sitecustomize.py usercustomize.py conftest.py setup.py setup.cfg pyproject.toml poetry.toml \
         pdm.toml uv.toml Pipfile Pipfile.lock poetry.lock pdm.lock uv.lock pytest.ini .pytest.ini pip.conf pip.ini .pip/ \
         .ipython/ .jupyter/ site-packages/ dist-packages/ pyvenv.cfg .venv/ venv/bin/ activate_this.py bin/activate \
         bin/activate.* mypy.ini .mypy.ini hatch_build.py hatch.toml pixi.toml pixi.lock pytest.toml .pytest.toml .flake8 pylintrc \
         pylintrc.toml .isort.cfg ruff.toml .ruff.toml pyrightconfig.json gunicorn.conf.py celeryconfig.py alembic.ini \
         versioneer.py readline.py rlcompleter.py .pythonstartup",
    ),
    (
        "another interpreter or its tools run or obey it",
        "Gemfile Gemfile.lock *.gemspec Rakefile *.rake config.ru Guardfile Capfile Thorfile .yardopts .rdoc_options .standard.yml *.thor .rspec .simplecov \
         .autotest .rubocop.yml .rubocop_todo.yml .bundle/ .Rprofile .Renviron .RData Rprofile.site .perldb .ghci \
         .ocamlinit startup.m startup.jl .guile .emacs .emacs.* .emacs.d/ .doom.d/ .spacemacs .dir-locals.el \
         .dir-locals-2.el .ycm_extra_conf.py composer.json composer.lock vendor/autoload.php phpunit.xml* phpstan.neon* \
         .php-cs-fixer* rector.php .user.ini php.ini .htaccess web.config .my.cnf .mylogin.cnf *gdbinit *-gdb.py *-gdb.gdb \
         .lldbinit .lldbinit-* go.work go.mod go.sum go.env .iex.exs .lein*",
    ),
    (
        "an editor runs or obeys it",
        ".vim/ .nvim/ .nvim.lua .vscode/ .vscode-server/ *.code-workspace .idea/ *.iml .fleet/ .zed/ .helix/ .vs/ \
         .atom/ *.sublime-project *.sublime-workspace .project .classpath .settings/ nbproject/ .vimspector.json .clangd \
         compile_commands.json compile_flags.txt .ctags .ctags.d/ .solargraph.yml .projectile",
    ),
    (
        "an assistant obeys it",
        ".cursor/ .cursorrules .mcp.json mcp.json .claude/ CLAUDE.md CLAUDE.local.md AGENTS.md AGENT.md GEMINI.md \
         QWEN.md .codex/ .gemini/ .agents/ .windsurf/ .windsurfrules .clinerules .clinerules/ .roo/ .roomodes .continue/ \
         .aider* .junie/ .kiro/ .goosehints .opencode/ opencode.json .github/copilot-instructions.md \
         .github/instructions/ .github/prompts/ .github/agents/",
    ),
    (
        "git or another version control runs or obeys it",
        ".gitconfig .gitmodules .gitattributes .lfsconfig .githooks/ .husky/ applypatch-msg pre-applypatch \
         post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit pre-rebase post-checkout \
         post-merge pre-push pre-receive post-receive post-update proc-receive reference-transaction push-to-checkout \
         pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman hooks/update .pre-commit-config.yaml \
         .pre-commit-hooks.yaml .overcommit.yml lefthook*.yml .lefthook* .hg/ .svn/ .bzr/ .jj/ .jjconfig.toml .sl/ \
         _darcs/ .pijul/ CVS/ .fossil-settings/ .fslckout _FOSSIL_ commondir gitdir",
    ),
    (
        "a build server runs it",
        ".github/workflows/ .github/actions/ .github/dependabot.* action.yml action.yaml .gitea/ .forgejo/ .gitlab-ci*.yml \
         .gitlab/ .circleci/ .travis.yml .cirrus.* azure-pipelines* .azure-pipelines/ bitbucket-pipelines.yml \
         appveyor.yml .appveyor.yml .drone.* .buildkite/ .woodpecker.* .woodpecker/ .semaphore/ .tekton/ .teamcity/ \
         .builds/ .build.yml cloudbuild.yaml buildspec.yml codemagic.yaml Jenkinsfile Jenkinsfile.* .zuul.* zuul.d/ \
         renovate.json* .readthedocs.*",
    ),
    (
        "a program loads it",
        ".ssh/ authorized_keys* .gnupg/ .netrc .lesskey .less .mailcap .mime.types .forward .docker/ .kube/ .aws/ \
         .helm/ .local/ .m2/ .gradle/ .ivy2/ .sbt/ .npm/ .nvm/ .rustup/ .pyenv/ .rbenv/ .asdf/ .deno/ .bun/ .opam/ \
         .nuget/ .dotnet/ .composer/ ld.so.preload ld.so.conf.d/ .fonts.conf openssl.cnf *.so.preload .gtkrc*",
    ),
    ("a program obeys it when it starts", ".*rc .*rc.* .*rc.d/ _*rc .config/"),
    ("a command that is given all names takes it for an option", "-*/"),
];

/// One pattern of the table, with the reason that it gives.
struct Pattern {
    who: &'static str,
    names: Vec<&'static str>,
    /// The first byte of the pattern in lowercase.
    first: Option<u8>,
    is_folder: bool,
}

static PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let patterns = TABLE.iter().flat_map(|(who, patterns)| patterns.split_whitespace().map(move |text| (*who, text)));
    let pattern = |(who, text): (&'static str, &'static str)| {
        let (folder, is_folder) = (text.trim_end_matches('/'), text.ends_with('/'));
        let first = folder.bytes().next().map(|first| first.to_ascii_lowercase());
        Pattern { who, names: folder.split('/').collect(), first, is_folder }
    };
    patterns.map(pattern).collect()
});

/// Why other programs act on the file at this path (with `is_folder`, the folder), judged by its names alone; `None`
/// for ordinary names.
#[must_use]
pub fn run_by(path: &Path, is_folder: bool) -> Option<&'static str> {
    let names: Vec<&[u8]> = path.components().map(|name| name.as_os_str().as_encoded_bytes()).collect();
    // The first byte of most patterns differs from that of every name in the path.
    let firsts = names.iter().filter_map(|name| name.first()).chain(b"*");
    let begins: Vec<u8> = firsts.map(u8::to_ascii_lowercase).collect();
    let may_fit = |pattern: &&Pattern| pattern.first.is_some_and(|first| begins.contains(&first));
    let mut fitting = PATTERNS.iter().filter(may_fit);
    fitting.find(|pattern| pattern.fits(&names, is_folder)).map(|pattern| pattern.who)
}

impl Pattern {
    /// Whether the last names of a path, or for a folder pattern any of them, match the pattern.
    fn fits(&self, names: &[&[u8]], is_folder: bool) -> bool {
        let fits = |names: &[&[u8]]| names.iter().zip(&self.names).all(|(name, wanted)| fits(wanted.as_bytes(), name));
        let mut windows = names.windows(self.names.len());
        if self.is_folder { windows.any(fits) } else { !is_folder && windows.next_back().is_some_and(fits) }
    }
}

/// Whether a name matches a pattern with `*`, in any letter case.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), found) => fits(rest, name) || found.is_some_and(|(_, later)| fits(pattern, later)),
        (Some((wanted, rest)), Some((found, later))) => wanted.eq_ignore_ascii_case(found) && fits(rest, later),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

/// Tests of the table of file names.
#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::run_by;

    #[test]
    fn names_run_by_programs_are_recognised() {
        let run = "/w/.envrc /w/Makefile /w/makefile /w/sub/conftest.py /w/x.pth /w/.VSCode/tasks.json /w/.bashrc \
                   /w/.github/workflows/a.yml /h/.config/autostart/x.desktop /w/node_modules/.bin/tsc /w/.eslintrc.json \
                   /w/.config/fish/conf.d/a.fish /w/a/hooks/pre-commit /w/scripts/post-checkout /w/vite.config.ts \
                   /w/venv/bin/activate /w/node_modules/left-pad/index.js /w/.npmrc /w/.gitattributes /w/-rf \
                   /w/--checkpoint-action=exec=x /w/package-lock.json /w/.python-version /w/.RData /w/.devcontainer.json \
                   /w/a.xcodeproj/project.pbxproj /w/.env.local /w/docker-compose.override.yml /w/.mise.local.toml \
                   /w/.flake8 /w/pylintrc /w/.pylintrc /w/rakefile.rb /w/Makefile.toml /w/taskfile.dist.yml /w/tox.toml \
                   /w/toxfile.py /w/pytest.toml /w/pixi.toml /w/hatch.toml /w/gunicorn.conf.py /w/Nodemon.json \
                   /w/.storybook/main.js /w/.yardopts /w/.gn /w/Jamroot /w/Tupfile /w/mkdocs.yml /w/book.toml /w/.replit \
                   /w/App/App.csproj /w/.yarnrc.yml /w/rust-toolchain.toml /w/.rhosts /w/_vimrc";
        for path in run.split_whitespace() {
            assert!(run_by(Path::new(path), false).is_some(), "{path}");
        }
        let ordinary = "/w/report.txt /w/src/main.rs /w/pwned /w/.github/README.md /w/makefile.txt /w/a.py \
                        /w/bin/tool.c /w/data.json /w/activate /w/photos/2024/a.jpg /w/.hidden /w/.editorconfig \
                        /w/.gitignore /w/.gitkeep /w/LICENSE /w/README.md /w/CHANGELOG.md /w/src/hooks/useTitle.ts \
                        /w/app/tasks.py /w/src/config.rs /w/src/app.component.ts /w/src/user.service.ts /w/lib/util.rb \
                        /w/index.html /w/style.css /w/script.js /w/src/index.tsx /w/main.go /w/Main.java /w/a.c /w/a.h \
                        /w/a.cpp /w/query.sql /w/notes.org /w/run.sh /w/tests/test_app.py /w/app/models.py \
                        /w/requirements.txt /w/config.yaml /w/settings.toml /w/data.csv /w/page.php /w/mod.pm /w/x.lua \
                        /w/x.kt /w/x.swift /w/lib.zig /w/x.ex /w/x.hs /w/x.ml /w/x.clj /w/x.R /w/x.jl /w/paper.tex \
                        /w/Cargo.lock /w/.dockerignore /w/.prettierignore /w/a-b.txt /w/e-mail.eml /w/x.ipynb \
                        /w/vendor/lib/a.c /w/target/debug/app /w/build/app.o /w/dist/index.js /w/systemd/notes.txt";
        for path in ordinary.split_whitespace() {
            assert_eq!(run_by(Path::new(path), false), None, "{path}");
        }
        assert!(run_by(Path::new("/w/.husky"), true).is_some() && run_by(Path::new("/w/build"), true).is_none());
        assert!(run_by(Path::new("/w/hooks"), true).is_none() && run_by(Path::new("/w/-d"), true).is_some());
    }
}
