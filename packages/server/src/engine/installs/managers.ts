/** The install command of each package manager: as an ordinary user, into its own folder below one prefix. */
import { quoteWord } from '@steward/sandbox/quote-word.ts'
import type { PackageManager } from '@steward/protocol/packages.ts'
import type { Sources } from './sources.ts'
import { registryOf } from './sources.ts'

/** The prefix has the same path in the builder and in sessions, because programs contain the path of their place. */
export const packagesPrefix = '/opt/packages'
const work = '/workspace'

const words = (list: readonly string[]): string => list.map(quoteWord).join(' ')

/** All package managers except apt, which installs into the system. */
export type Installer = Exclude<PackageManager, 'apt'>

type ManagerRecipe = {
  program: string
  script: (names: readonly string[], sources: Sources) => string
  /** PATH entries for the installed commands. */
  path: readonly string[]
  env: Readonly<Record<string, string>>
}

const recipes: Record<Installer, ManagerRecipe> = {
  cargo: {
    program: 'cargo',
    script: (names, sources) => {
      const own = registryOf('cargo', sources)
      const settings = own
        ? `[source.crates-io]\nreplace-with = "own"\n[source.own]\nregistry = ${JSON.stringify(`sparse+${own.replace(/\/?$/, '/')}`)}\n`
        : ''
      return `mkdir -p "$CARGO_HOME"
printf %s ${quoteWord(settings)} >"$CARGO_HOME/config.toml"
cargo install --root ${packagesPrefix}/cargo -- ${words(names)}`
    },
    path: [`${packagesPrefix}/cargo/bin`],
    env: {},
  },
  gem: {
    program: 'gem',
    // Words after `--` would be options of the package's own build.
    script: (names, sources) =>
      `gem install --no-document --env-shebang --install-dir ${packagesPrefix}/gem --bindir ${packagesPrefix}/gem/bin \
--clear-sources --source ${quoteWord(registryOf('gem', sources))} ${words(names)}`,
    path: [`${packagesPrefix}/gem/bin`],
    env: { GEM_PATH: `${packagesPrefix}/gem` },
  },
  go: {
    program: 'go',
    script: (names, sources) =>
      [
        `export GOPROXY=${quoteWord(registryOf('go', sources))}`,
        // GOSUMDB is off with an operator's registry, because that registry answers for its contents.
        ...(sources.go === undefined ? [] : ['export GOSUMDB=off']),
        ...names.map(
          (name) => `go install ${quoteWord(name.includes('@') ? name : `${name}@latest`)}`,
        ),
      ].join('\n'),
    path: [`${packagesPrefix}/go/bin`],
    env: {},
  },
  npm: {
    program: 'npm',
    script: (names, sources) =>
      `npm install --global --prefix ${packagesPrefix}/npm --registry ${quoteWord(registryOf('npm', sources))} \
--no-audit --no-fund --no-update-notifier -- ${words(names)}`,
    path: [`${packagesPrefix}/npm/bin`],
    env: { NODE_PATH: `${packagesPrefix}/npm/lib/node_modules` },
  },
  pip: {
    program: 'python3',
    script: (names, sources) => {
      const source = new URL(registryOf('pip', sources))
      const trusted = source.protocol === 'http:' ? `--trusted-host ${quoteWord(source.host)}` : ''
      return `python3 -m pip install --target ${packagesPrefix}/pip --index-url ${quoteWord(source.href)} ${trusted} \
--no-input --no-cache-dir --disable-pip-version-check --progress-bar off -- ${words(names)}`
    },
    path: [`${packagesPrefix}/pip/bin`],
    env: { PYTHONPATH: `${packagesPrefix}/pip` },
  },
}

/** Variables that keep the managers' caches and settings out of the prefix. */
export const builderEnv: Readonly<Record<string, string>> = {
  HOME: `${work}/home`,
  TMPDIR: `${work}/tmp`,
  CARGO_HOME: `${work}/cargo`,
  CARGO_TARGET_DIR: `${work}/target`,
  CARGO_REGISTRIES_CRATES_IO_PROTOCOL: 'sparse',
  GOBIN: `${packagesPrefix}/go/bin`,
  GOPATH: `${work}/go`,
  GOCACHE: `${work}/go-cache`,
  GOFLAGS: '-modcacherw',
  GOTOOLCHAIN: 'local',
  npm_config_cache: `${work}/npm`,
  npm_config_userconfig: '/dev/null',
  // An unreachable registry fails within seconds; npm alone would wait for 70.
  npm_config_fetch_retries: '2',
  npm_config_fetch_retry_mintimeout: '500',
  npm_config_fetch_retry_maxtimeout: '2000',
  npm_config_fetch_timeout: '30000',
  PIP_RETRIES: '2',
  CARGO_NET_RETRY: '2',
  PIP_CONFIG_FILE: '/dev/null',
  DEBIAN_FRONTEND: 'noninteractive',
}

export function scriptFor(manager: Installer, names: readonly string[], sources: Sources): string {
  const { program, script } = recipes[manager]
  return `set -e
mkdir -p "$HOME" "$TMPDIR" ${packagesPrefix}/${manager}
if ! command -v ${program} >/dev/null; then
  echo 'there is no ${program} in the system of the sandbox; a package of apt may bring it'
  exit 127
fi
${script(names, sources)}`
}

/** Variables of commands in a sandbox where these managers have installed packages. */
export function installVariables(managers: readonly PackageManager[]) {
  const used = managers.flatMap((manager) => (manager === 'apt' ? [] : [recipes[manager]]))
  return {
    path: used.flatMap(({ path }) => path),
    env: Object.assign({}, ...used.map(({ env }) => env)) as Record<string, string>,
  }
}
