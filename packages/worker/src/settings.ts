/** All settings of the worker, declared once. */
import {
  choice,
  dayMs,
  decimal,
  httpUrl,
  textMatching,
  port,
  secondMs,
  text,
  wholeNumber,
} from '@steward/base/settings/kinds.ts'
import { logLevel } from '@steward/base/settings/log-level.ts'
import type { SettingKind } from '@steward/base/settings/setting.ts'
import { settingsSection, setting } from '@steward/base/settings/setting.ts'
import { diskSettings, sandboxSettings } from '@steward/sandbox/settings.ts'
import { z } from 'zod'

const Words = z.tuple([z.string().min(1)], z.string())

const words: SettingKind<[string, ...string[]]> = {
  form: 'a JSON list of strings',
  inFile: { type: 'json', schema: () => z.toJSONSchema(Words, { target: 'draft-7' }) },
  example: '[node, /opt/harness/main.mjs]',
  parse(given) {
    try {
      return Words.parse(JSON.parse(given))
    } catch {
      return undefined
    }
  },
}

const signingKey = textMatching(
  'a secret as the service shows it, `whsec_` and base64',
  /^(whsec_)?[A-Za-z0-9+/]{32,}={0,2}$/,
)

const service = settingsSection('Service', {
  baseUrl: setting('WORKER_BASE_URL', httpUrl, {
    hidden: true,
    required: "give the base URL of the service, the server's PUBLIC_URL",
    about: 'base URL of the service',
  }),
  environmentId: setting(
    'WORKER_ENVIRONMENT_ID',
    textMatching('an environment id', /^[\w-]{1,128}$/),
    {
      example: 'env_1',
      required: 'give the id of a self_hosted environment',
      about: 'the `self_hosted` environment whose sessions the worker claims',
    },
  ),
  environmentKey: setting('WORKER_ENVIRONMENT_KEY', text, {
    secret: true,
    required: 'give a key of the environment, made by POST /v1/ext/api_keys',
    about: 'a key of that environment',
  }),
  logLevel,
})

const claims = settingsSection('Claims', {
  lane: setting('WORKER_LANE', choice(['openma_supervised', 'ama_worker']), {
    default: 'openma_supervised',
    about:
      "`openma_supervised`: a harness process that this worker starts, with the service's tools; `ama_worker`: the official worker, inside the sandbox",
    more: 'See [Lanes and strategies](#lanes-and-strategies)',
  }),
  strategy: setting(
    'WORKER_STRATEGY',
    choice(['claim_then_acquire', 'poll_unacked_then_dispatch', 'acquire_then_session_poll']),
    {
      default: 'claim_then_acquire',
      about:
        '`claim_then_acquire`: claim, then start a sandbox; only with `ama_worker` also `poll_unacked_then_dispatch` (the sandbox acknowledges) and `acquire_then_session_poll` (the sandbox claims)',
    },
  ),
  harness: setting('WORKER_HARNESS', words, {
    hidden: true,
    defaultAbout: 'the one of this package',
    about:
      'another harness that speaks openma-harness-supervisor-v1: its command as a JSON list of words',
  }),
  sessions: setting('WORKER_SESSIONS', wholeNumber(1, 1000), {
    default: '8',
    about: 'sessions that run at once',
  }),
  pollMs: setting('WORKER_POLL_SECONDS', decimal(0, 3600, secondMs), {
    default: '5',
    about:
      'seconds from a poll that found nothing to the next; 0 keeps one request open at the service',
  }),
  leaseSeconds: setting('WORKER_LEASE_SECONDS', wholeNumber(10, 300), {
    default: '90',
    about: 'seconds that a claim outlives this worker, where this worker sends the heartbeats',
  }),
  reserveMs: setting('WORKER_RESERVE_SECONDS', decimal(5, 3600, secondMs), {
    default: '120',
    about:
      'seconds for a sandbox to start and acknowledge before another worker can claim its item',
    more: 'Give all workers of one environment the same value. Only `poll_unacked_then_dispatch` uses it',
  }),
  stopMs: setting('WORKER_STOP_SECONDS', decimal(1, 3600, secondMs), {
    default: '20',
    about: 'seconds for running calls to end after SIGTERM',
  }),
})

const hints = settingsSection('Hints of queued work', {
  /** Set both port and key, or neither. */
  webhook: {
    port: setting('WORKER_WEBHOOK_PORT', port, {
      about: 'port that takes signed hints of queued work, to poll at once; 0 takes a free one',
      more: 'Needs the signing key',
    }),
    host: setting('WORKER_WEBHOOK_HOST', text, {
      default: '127.0.0.1',
      about: 'address of that port',
    }),
    key: setting('WORKER_WEBHOOK_SIGNING_KEY', signingKey, {
      secret: true,
      about: "the secret of the hints' endpoint, which signs them; required with the port",
    }),
  },
})

const sandboxes = settingsSection('Sandboxes', {
  dir: setting('WORKER_DIR', text, {
    default: './worker-data',
    about: 'folder of working folders, which stay for the next message of their session',
  }),
  keepMs: setting('WORKER_KEEP_DAYS', decimal(1, 3650, dayMs), {
    default: '7',
    about: 'days until a start of the worker removes an unused working folder',
  }),
  idleMs: setting('WORKER_IDLE_SECONDS', decimal(1, 86_400, secondMs), {
    default: '60',
    about: 'seconds that the worker keeps the sandbox of an idle session',
  }),
  egress: setting('WORKER_EGRESS', choice(['session', 'service']), {
    defaultAbout: '`session` with `openma_supervised`, `service` with `ama_worker`',
    about:
      'where sandboxes connect to through the service: `session`, all that their session may reach; `service`, the service alone',
    more: 'See [Egress](#network-access-egress)',
  }),
  sandbox: sandboxSettings,
})

export const workerSettings = {
  what: 'worker',
  settings: { ...service, ...claims, ...hints, ...sandboxes, disk: diskSettings },
  prefixes: ['WORKER_', 'SANDBOX_'],
}
