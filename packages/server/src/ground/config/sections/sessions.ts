/** Settings of sessions: sandboxes, their disk, installs, checkpoints, workers, shares. */
import {
  asList,
  choice,
  choices,
  dayMs,
  splitList,
  mebibyte,
  minuteMs,
  secondMs,
  text,
  wholeNumber,
} from '@steward/base/settings/kinds.ts'
import { settingsSection, setting } from '@steward/base/settings/setting.ts'
import { diskSettings, sandboxSettings, serverProvider } from '@steward/sandbox/settings.ts'
import { parsePackageSources, parseRootFolders } from '../../core/text/setting-lists.ts'

const sandboxes = settingsSection('Sandboxes', {
  sandbox: serverProvider,
  sandboxSocket: sandboxSettings.socket,
  sandboxImage: sandboxSettings.image,
  sandboxImages: setting(
    'SANDBOX_IMAGES',
    { form: 'a list of images', parse: splitList, ...asList },
    {
      default: '',
      example: "['docker.io/library/*', 'registry.example.com/team/tool:1']",
      defaultAbout: 'any image that the engine has or can fetch',
      about: 'images that a `base_image` may name with `docker` and `podman`',
      more: 'For example `docker.io/library/*,registry.example.com/team/tool:1`; a trailing `*` matches any ending',
    },
  ),
  sandboxRoots: setting(
    'SANDBOX_ROOTS',
    {
      form: 'a list of name=/folder',
      parse: parseRootFolders,
      inFile: { type: 'map', between: '=' },
    },
    {
      default: '',
      example: '{ debian-13: /srv/roots/trixie }',
      about:
        'unpacked root file systems for bubblewrap, by the names that a `base_image` has for them',
      more: 'For example `debian-13=/srv/roots/trixie`',
    },
  ),
  sandboxDir: setting('SANDBOX_DIR', text, {
    defaultAbout: '`sandboxes` below `DATA_DIR`',
    about: 'folder of the working folders of sessions',
  }),
  sandboxIdleMs: setting('SANDBOX_IDLE_SECONDS', wholeNumber(1, 86_400, secondMs), {
    default: '300',
    about: 'seconds until the server stops an unused sandbox; the working folder stays',
  }),
  sandboxMemory: sandboxSettings.memory,
  sandboxProcesses: sandboxSettings.processes,
  sandboxCpus: sandboxSettings.cpus,
  sandboxLimits: setting('SANDBOX_LIMITS', choice(['available', 'required']), {
    default: 'available',
    about:
      'what the server does where no control group limits memory and processes of a sandbox: `available` warns, `required` does not start',
    more: 'See [What the sandbox promises](sandboxes.md#what-the-sandbox-promises)',
  }),
  sandboxUsers: setting('SANDBOX_USERS', choice(['available', 'required', 'shared']), {
    default: 'available',
    about:
      'what the server does where sandboxes have no host user of their own: `available` warns, `required` does not start; `shared` uses the user of the server',
    more: 'See [What the sandbox promises](sandboxes.md#what-the-sandbox-promises)',
  }),
})

const installs = settingsSection('Installs of environments', {
  packages: {
    sources: setting(
      'PACKAGE_REGISTRIES',
      {
        form: 'a list of manager=URL for apt, cargo, gem, go, npm or pip, without credentials',
        parse: parsePackageSources,
        shown: (given) => given,
        inFile: { type: 'map', between: '=' },
      },
      {
        hidden: true,
        default: '',
        example: '{ npm: https://npm.example.com/, pip: https://pypi.example.com/simple }',
        defaultAbout: 'the public ones',
        about: 'registries to install from in place of the public ones',
        more: 'For example `npm=https://npm.example.com/,pip=https://pypi.example.com/simple`',
      },
    ),
    buildMs: setting('PACKAGE_BUILD_MINUTES', wholeNumber(1, 1_440, minuteMs), {
      default: '15',
      about: 'minutes that the installs of one environment may take',
    }),
    /** Bytes. */
    largest: setting('PACKAGE_LAYER_MB', wholeNumber(1, 1_048_576, mebibyte), {
      default: '4096',
      about: 'disk of the installs of one environment, build tools included, in MiB',
    }),
    keptMs: setting('PACKAGE_LAYER_DAYS', wholeNumber(1, 3_650, dayMs), {
      default: '14',
      about: 'days until the server removes installs that no session uses',
    }),
  },
})

const checkpoints = settingsSection('Checkpoints', {
  checkpoints: {
    saving: setting('CHECKPOINTS', choice(['idle', 'stop', 'off']), {
      defaultAbout: '`idle` with `DATABASE_URL`, else `stop`',
      about:
        'when the server saves working folders in the blob store: `idle` at the end of each turn that may have changed them, `stop` with their sandbox, `off` never',
      more: 'Machines without a common `SANDBOX_DIR` need `idle`, which needs bubblewrap: without it the server saves when the sandbox stops',
    }),
    /** Bytes of one archive. */
    largest: setting('CHECKPOINT_LARGEST_MB', wholeNumber(1, 1_048_576, mebibyte), {
      default: '10240',
      about: 'largest archive of a working folder, compressed, in MiB',
    }),
    history: setting('CHECKPOINT_HISTORY', wholeNumber(0, 1_000), {
      default: '10',
      about:
        'checkpoints of a session that stay beside its newest, so that a fork has the working folder of an earlier time',
    }),
    keptMs: setting('CHECKPOINT_DAYS', wholeNumber(1, 36_500, dayMs), {
      default: '90',
      about: 'days until the server removes a checkpoint that no newer one replaces',
    }),
  },
})

const workers = settingsSection('Workers', {
  work: {
    idleMs: setting('WORK_IDLE_SECONDS', wholeNumber(1, 86_400, secondMs), {
      default: '120',
      about: 'seconds of an idle session after which its worker is told to end',
    }),
    unclaimedMs: setting('WORK_UNCLAIMED_SECONDS', wholeNumber(1, 86_400, secondMs), {
      default: '60',
      about: 'seconds of unclaimed work after which the session is told so',
    }),
  },
  workerInputs: setting('WORKER_INPUTS', choices(['files', 'repositories']), {
    default: '',
    about:
      'what workers of `self_hosted` environments mount besides skills and memory stores: `files`, `repositories` or both',
    more: 'The server refuses to create sessions with any other input. The worker of the official client mounts neither, the worker of this service mounts both ([workers.md](workers.md))',
  }),
})

const shares = settingsSection('Shares', {
  shares: {
    percent: setting('WORKSPACE_SHARE', wholeNumber(1, 100), {
      default: '80',
      about:
        'percent of sessions, sandboxes, streams, connections, builds and fetches of a process that one workspace may hold while others hold none; 100 keeps nothing free for others',
      more: 'See [Workspaces beside each other](limits.md#workspaces-beside-each-other)',
    }),
    turns: setting('RUNNER_SESSIONS', wholeNumber(1, 100_000), {
      default: '1000',
      about: 'sessions that one process runs at once; further sessions wait',
    }),
    sandboxes: setting('SANDBOX_COUNT', wholeNumber(1, 100_000), {
      default: '1000',
      about: 'sandboxes that one process holds at once; a turn that needs a further one waits',
      more: 'The server stops idle sandboxes to make room',
    }),
    streams: setting('STREAM_COUNT', wholeNumber(1, 9_999_999), {
      defaultAbout: 'half the files that the process may open, at most 50000',
      about: 'event streams that one process holds open at once',
    }),
  },
  stopMs: setting('RUNNER_STOP_SECONDS', wholeNumber(0, 3_600, secondMs), {
    default: '20',
    about: 'seconds for running tool calls to end when the server stops',
    more: 'See [Stopping](operations.md#stopping-the-server)',
  }),
})

export const sessionSettings = {
  ...sandboxes,
  disk: diskSettings,
  ...installs,
  ...checkpoints,
  ...workers,
  ...shares,
}
