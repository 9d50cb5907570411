/** Settings of the server itself: its address, its data, and their places. */
import {
  asList,
  choice,
  dayMs,
  flag,
  hourMs,
  httpUrl,
  isDecodable,
  splitList,
  textMatching,
  mebibyte,
  natsUrl,
  port,
  postgresUrl,
  secondMs,
  fraction,
  text,
  wholeNumber,
} from '@steward/base/settings/kinds.ts'
import { logLevel } from '@steward/base/settings/log-level.ts'
import type { SettingKind } from '@steward/base/settings/setting.ts'
import { settingsSection, setting } from '@steward/base/settings/setting.ts'
import { parseStoreBackends, storeBackendsSchema } from '../../core/blob-backend.ts'
import { parseRanges } from '../../core/security/dial.ts'
import { parseRates } from '../../core/fairness/rates.ts'
import { rootSecretForm } from '../wrapped-root-secret.ts'
import { isPeerAddress } from '../../core/peer-address.ts'

const rootSecret = textMatching('16 or more characters', rootSecretForm)

const listening = settingsSection('Server', {
  rootSecret: setting('PLATFORM_ROOT_SECRET', rootSecret, {
    secret: true,
    required:
      'it seals keys and tokens at rest. Make one with `openssl rand -hex 32`, and keep it: sealed values are lost with it',
    about: 'seals keys and tokens at rest',
    more: '`openssl rand -hex 32` makes a good one. See [The root secret](operations.md#the-root-secret)',
  }),
  previousRootSecret: setting('PLATFORM_ROOT_SECRET_PREVIOUS', rootSecret, {
    secret: true,
    about:
      'the previous root secret while a new one replaces it; it opens sealed values and seals none',
  }),
  apiKey: setting('API_KEY', text, {
    secret: true,
    about: 'first workspace-admin key; the server stores only its hash',
    more: 'Any text, best `openssl rand -hex 32`. Another key at a later start is a further key: the earlier one stays valid until you revoke it',
  }),
  port: setting('PORT', port, {
    default: '8787',
    about: 'port to listen on; 0 takes a free one',
  }),
  host: setting('HOST', text, {
    default: '127.0.0.1',
    about: 'address to listen on; put a TLS proxy in front of any other address',
  }),
  publicUrl: setting('PUBLIC_URL', httpUrl, {
    hidden: true,
    defaultAbout: "the request's own host",
    about: 'base URL that workers and links use for this server',
  }),
  dataDir: setting('DATA_DIR', text, {
    default: './data',
    about:
      'folder of the embedded database, of caches, and of working folders unless SANDBOX_DIR is set',
  }),
  logLevel,
})

/** Samplers by their names in OpenTelemetry. */
const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

type AuditStream = { type: 'otlp' } | { type: 'syslog'; host: string; port: number }

const auditStream: SettingKind<AuditStream> = {
  form: 'otlp, or an address as in syslog+tls://siem.example.com:6514',
  example: 'syslog+tls://siem.example.com:6514',
  parse(given) {
    if (given === 'otlp') return { type: 'otlp' }
    const [, name = '', number = '6514'] =
      /^syslog\+tls:\/\/(\[[\da-f:]+\]|[^\s/:@?#]+)(?::(\d{1,5}))?\/?$/i.exec(given) ?? []
    const host = name.replace(/^\[|\]$/g, '')
    return host === '' || Number(number) > 65_535
      ? undefined
      : { type: 'syslog', host, port: Number(number) }
  },
}

/** `name=value` with commas between, the values as in a URL, as OpenTelemetry writes them. */
const headerList: SettingKind<Record<string, string>> = {
  form: 'a list of `name=value`, with the values as in a URL',
  parse(given) {
    const pairs = splitList(given).map((part) => {
      const at = part.indexOf('=')
      return [part.slice(0, at).trim(), part.slice(at + 1).trim()] as const
    })
    if (pairs.some(([name, value]) => !/^[\w-]+$/.test(name) || !isDecodable(value)))
      return undefined
    return Object.fromEntries(pairs.map(([name, value]) => [name, decodeURIComponent(value)]))
  },
}

const metrics = settingsSection('Metrics and traces', {
  metrics: {
    port: setting('METRICS_PORT', port, {
      defaultAbout: 'no metrics',
      about: 'port on which `GET /metrics` answers Prometheus; 0 takes a free one',
      more: 'See [Metrics](operations.md#metrics-prometheus)',
    }),
    host: setting('METRICS_HOST', text, {
      default: '127.0.0.1',
      about: 'address of that port, which asks for no credential: keep it from tenants',
    }),
  },
  otlp: {
    endpoint: setting('OTEL_EXPORTER_OTLP_ENDPOINT', httpUrl, {
      hidden: true,
      defaultAbout: 'no traces',
      about: 'collector of OpenTelemetry that takes traces as JSON over HTTP, below `/v1/traces`',
      more: 'The exporters below send more to it. See [The collector](operations.md#the-collector-opentelemetry)',
    }),
    headers: setting('OTEL_EXPORTER_OTLP_HEADERS', headerList, {
      secret: true,
      about: 'headers for the collector, such as `authorization=Bearer%20…`: names, values, commas',
    }),
    tracesExporter: setting('OTEL_TRACES_EXPORTER', choice(['otlp', 'none']), {
      default: 'otlp',
      about: 'whether traces are sent to the collector',
    }),
    metricsExporter: setting('OTEL_METRICS_EXPORTER', choice(['otlp', 'none']), {
      default: 'none',
      about: 'whether metrics are sent to the collector, below `/v1/metrics`',
    }),
    metricsEveryMs: setting('OTEL_METRIC_EXPORT_INTERVAL', wholeNumber(100, 3_600_000), {
      default: '60000',
      about: 'milliseconds between two sendings of the metrics',
    }),
    logsExporter: setting('OTEL_LOGS_EXPORTER', choice(['otlp', 'none']), {
      default: 'none',
      about: "whether the server's log is sent to the collector too, below `/v1/logs`",
    }),
    metricsEndpoint: setting('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', httpUrl, {
      hidden: true,
      about: 'the whole address for metrics, in place of the one above',
    }),
    logsEndpoint: setting('OTEL_EXPORTER_OTLP_LOGS_ENDPOINT', httpUrl, {
      hidden: true,
      about: 'the whole address for logs, in place of the one above',
    }),
    tracesEndpoint: setting('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', httpUrl, {
      hidden: true,
      about: 'the whole address for traces, in place of the one above',
    }),
  },
  auditStream: setting('AUDIT_STREAM', auditStream, {
    defaultAbout: 'no stream',
    about: 'where lines of the audit are sent: `otlp`, or `syslog+tls://host:6514`',
    more: 'See [Stream it to a SIEM](audit.md#stream-it-to-a-siem)',
  }),
  traces: {
    sampler: setting('OTEL_TRACES_SAMPLER', choice(samplers), {
      default: 'parentbased_always_on',
      about:
        'which traces are sent; `parentbased_`: a trace that a caller began follows the caller',
    }),
    share: setting('OTEL_TRACES_SAMPLER_ARG', fraction, {
      default: '1',
      about: 'share of the sessions that `traceidratio` takes',
    }),
  },
})

const database = settingsSection('Database', {
  databaseUrl: setting('DATABASE_URL', postgresUrl, {
    secret: true,
    defaultAbout: 'SQLite below `DATA_DIR`',
    about: 'Postgres to use in place of the embedded SQLite database',
  }),
  databaseLimits: {
    connectMs: setting('DATABASE_CONNECT_SECONDS', wholeNumber(1, 600, secondMs), {
      default: '10',
      about: 'seconds to open a connection to Postgres or to wait for a free one; then 503',
    }),
    statementMs: setting('DATABASE_STATEMENT_SECONDS', wholeNumber(1, 600, secondMs), {
      default: '15',
      about: 'seconds that a statement on Postgres may take; then 503',
      more: 'Migrations have no limit',
    }),
  },
  tenantDatabases: {
    enabled: setting('PER_TENANT_DB_ENABLED', flag, {
      default: 'false',
      about: 'whether each workspace has a database of its own',
      more: 'See [A database for each workspace](workspaces.md#a-database-for-each-workspace)',
    }),
    mostOpen: setting('PER_TENANT_DB_OPEN', wholeNumber(1, 10_000), {
      default: '64',
      about: 'files of workspaces that are open at once; each takes 6 descriptors and some 4 MB',
    }),
    mostBytes: setting('PER_TENANT_DB_MB', wholeNumber(1, 10_000_000, 2 ** 20), {
      default: '10240',
      about:
        "largest size of a workspace's file on SQLite; writes beyond it are 507, of this workspace alone",
    }),
  },
})

const limits = settingsSection('Limits', {
  trustedProxies: setting(
    'TRUSTED_PROXIES',
    { form: 'a list of address ranges', parse: parseRanges, ...asList },
    {
      default: '',
      example: "[10.0.0.5, 'fd00::/64']",
      about:
        'proxies that are believed when `X-Forwarded-For` names the address of a caller, such as `10.0.0.5,fd00::/64`',
      more: 'See [Addresses behind proxies](limits.md#addresses-behind-proxies)',
    },
  ),
  rateLimits: setting(
    'RATE_LIMITS',
    {
      form: 'a list of `class:rate`, or off',
      parse: parseRates,
      inFile: { type: 'map', between: ':' },
    },
    {
      example: '{ reads: 600/m, writes: 60/m }',
      defaultAbout:
        'none for one workspace; `reads:6000/m,writes:3000/m,sessions:600/m,uploads:600/m,messages:600/m` for several',
      about:
        'requests that each workspace may make, such as `reads:600/m,writes:60/m`; `off` for no limits',
      more: 'See [Rate limits](limits.md#rate-limits)',
    },
  ),
})

const peers = settingsSection('Other processes', {
  busUrl: setting('BUS_URL', natsUrl, {
    secret: true,
    defaultAbout: 'direct connections between the processes',
    about: 'NATS server that carries live text between the processes of one Postgres',
    more: 'With a name and a password, or a token in place of the name: `nats://name:password@host:4222`. Needs `DATABASE_URL`. See [Between processes](operations.md#between-processes)',
  }),
  peers: {
    host: setting('PEER_HOST', text, {
      defaultAbout: '`HOST`',
      about: 'address to listen on for the other processes of the same Postgres',
      more: 'See [Between processes](operations.md#between-processes)',
    }),
    port: setting('PEER_PORT', port, {
      default: '0',
      about: 'port to listen on for the other processes; 0 takes a free one',
    }),
    address: setting(
      'PEER_ADDRESS',
      {
        form: 'a host, or host:port',
        parse: (given) => (isPeerAddress(given) || isPeerAddress(`${given}:1`) ? given : undefined),
      },
      {
        defaultAbout: 'where the process listens',
        about: 'where the other processes reach this one',
      },
    ),
  },
})

const storage = settingsSection('Files and retention', {
  stores: setting(
    'STORE_BACKENDS',
    {
      form: 'a JSON object',
      parse: parseStoreBackends,
      inFile: { type: 'json', schema: storeBackendsSchema },
    },
    {
      secret: true,
      defaultAbout: '`blobs` below `DATA_DIR`',
      about: 'where the server keeps the bytes of files, and whether it publishes outputs, as JSON',
      more: 'See [Blobs](operations.md#blobs-files-in-a-folder-or-an-s3-bucket)',
    },
  ),
  files: {
    largest: setting('FILES_LARGEST_MB', wholeNumber(1, 51_200, mebibyte), {
      default: '500',
      about: 'largest file that callers may upload, in MiB',
    }),
    workspace: setting('FILES_WORKSPACE_MB', wholeNumber(1, 1_000_000_000, mebibyte), {
      default: '102400',
      about: 'size of all files, outputs, skills and memories of one workspace together, in MiB',
    }),
    uploadsDownloadable: setting('FILES_UPLOADS_DOWNLOADABLE', flag, {
      default: 'true',
      about: 'whether callers may download new uploads again',
    }),
  },
  retention: {
    deletedMs: setting('SESSION_DELETED_HOURS', wholeNumber(1, 87_600, hourMs), {
      default: '24',
      about: 'hours from the deletion of a session to the removal of its data',
    }),
    usageMs: setting('USAGE_DAYS', wholeNumber(62, 36_500, dayMs), {
      default: '400',
      about:
        'days that the server keeps what was used by hours and sessions; older usage is kept by days',
    }),
    auditMs: setting('AUDIT_DAYS', wholeNumber(1, 36_500, dayMs), {
      default: '365',
      about:
        'days that the server keeps the lines of the audit, and uses and changes of credentials',
    }),
  },
})

export const servingSettings = {
  ...listening,
  ...metrics,
  ...limits,
  ...database,
  ...peers,
  ...storage,
}
