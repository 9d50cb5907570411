/** The environment as a configuration, or a refusal to start that names every setting that is wrong. */
import type { DiskSpace } from '@steward/sandbox/disk.ts'
import type { BlobPlace } from '../core/blob-place.ts'
import { parseStoreBackends } from '../core/blob-place.ts'
import type { PrivateTarget } from '../core/dial.ts'
import { parseRanges, parseTargets } from '../core/dial.ts'
import type { PackageSources } from '../core/lists.ts'
import { hostNames, listed, packageSources, rootFolders } from '../core/lists.ts'
import type { PostgresLimits } from '../core/postgres-client.ts'
import { usualLimits } from '../core/postgres-client.ts'
import { openFilesLimit } from '../core/open-files.ts'
import { settings } from './settings.ts'

export type Config = {
  port: number
  host: string
  dataDir: string
  sandboxDir: string
  rootSecret: string
  /** Opens what was sealed under it, and seals nothing. */
  previousRootSecret: string | undefined
  apiKey: string | undefined
  databaseUrl: string | undefined
  databaseLimits: PostgresLimits
  /** A folder below `dataDir` when left out. */
  blobs: BlobPlace | undefined
  /** Whether what sessions leave for people is kept. */
  publishes: boolean
  files: { largest: number; workspace: number; uploadsDownloadable: boolean }
  /** For what these settings name. */
  egressAllowPrivate: ReturnType<typeof parseRanges>
  /** For what workspaces name. */
  egressTenantTargets: readonly PrivateTarget[]
  egressProfile: 'required' | 'best_effort' | 'disabled'
  /** Empty: any. */
  repositoryHosts: readonly string[]
  repositoryBytes: number
  packages: {
    /** In place of the public registries. */
    sources: PackageSources
    buildMs: number
    /** Bytes. */
    largest: number
    keptMs: number
  }
  webSearch: { apiKey: string | undefined; baseUrl: string }
  sandbox: 'bubblewrap' | 'docker' | 'podman' | 'local'
  sandboxSocket: string | undefined
  /** Those that environments may name; none listed: any. */
  sandboxImages: readonly string[]
  sandboxImage: string
  /** Host folders by name. */
  sandboxRoots: ReadonlyMap<string, string>
  sandboxIdleMs: number
  publicUrl: string | undefined
  /** When a worker is sent away, and when a session is told that none comes. */
  work: { idleMs: number; unclaimedMs: number }
  workerInputs: readonly WorkerInput[]
  checkpoints: {
    saving: Saving
    /** Bytes of one archive. */
    largest: number
    keptMs: number
  }
  /** `available`: as good as this machine has it. */
  sandboxLimits: 'available' | 'required'
  /** `shared`: the server's, also where there are others. */
  sandboxUsers: 'available' | 'required' | 'shared'
  retention: { deletedMs: number; auditMs: number }
  sandboxMemory: number
  sandboxProcesses: number
  sandboxCpus: number
  disk: {
    /** Of one session. */
    session: DiskSpace
    /** Free on the disks of this service. */
    floor: DiskSpace
  }
  /** What tenants share of a process: how much there is, and how many percent of it one alone may hold. */
  shares: {
    percent: number
    turns: number
    sandboxes: number
    streams: number
    connections: number
  }
  /** How long running tool calls have when the server is stopped. */
  stopMs: number
  webhooks: {
    organization: string | undefined
    hint: { url: string; secret: string } | undefined
  }
  offlineModel: boolean
  offlineThinkMs: number
  /** How long one answer of a model may take. */
  modelAnswerMs: number
  embeddingModel: string
  logLevel: 'debug' | 'info' | 'warn' | 'error'
  fallbackKeys: {
    anthropic: Fallback | undefined
    openai: Fallback | undefined
    google: Fallback | undefined
  }
}
type Fallback = { apiKey: string; baseUrl: string | undefined }

type Environment = Record<string, string | undefined>

/** Our names and the specification's; whatever else is in the environment is none of our business. */
const ours =
  /^(STEWARD_|PLATFORM_|EGRESS_|SANDBOX_|RUNNER_|PER_TENANT_|STORE_|FILES_|REPOSITORY_|PACKAGE_|INTEGRATIONS_|VENDOR_)/

function signingKey(text: string): string | undefined {
  const bytes = Buffer.from(text.replace(/^whsec_/, ''), 'base64')
  const isWhole = bytes.toString('base64') === text.replace(/^whsec_/, '')
  return isWhole && bytes.length >= 24 && bytes.length <= 64 ? text : undefined
}

type Take = (name: string, parse: (text: string) => string | undefined) => string | undefined
type Url = (name: string, protocols: RegExp) => string | undefined

function hint(env: Environment, problems: string[], { take, url }: { take: Take; url: Url }) {
  const where = 'PLATFORM_MANAGED_AGENTS_WEBHOOK_URL'
  const key = 'PLATFORM_MANAGED_AGENTS_WEBHOOK_SIGNING_KEY'
  if (Boolean(env[where]) !== Boolean(env[key]))
    problems.push(`${where} and ${key} go together: nothing is sent unsigned`)
  const [address, secret] = [url(where, /^https?:$/), take(key, signingKey)]
  return address && secret ? { url: address, secret } : undefined
}

type Known = ReadonlyMap<string, (typeof settings)[number]>

function unusable(env: Environment, known: Known): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined || value === '') return []
    const setting = known.get(name)
    if (!setting && ours.test(name))
      return [`${name} is not a setting of this server; --help lists them`]
    return setting?.later && value !== 'false'
      ? [`${name} is specified, but not yet supported`]
      : []
  })
}

const workerInputs = ['files', 'repositories'] as const
export type WorkerInput = (typeof workerInputs)[number]

function inputKinds(text: string): WorkerInput[] | undefined {
  const kinds = workerInputs.filter((kind) => listed(text).includes(kind))
  return kinds.length === new Set(listed(text)).size ? kinds : undefined
}

/** `idle`: at each end of a turn that may have changed something, and as with `stop`: when the sandbox is stopped. */
export type Saving = (typeof savings)[number]
const savings = ['idle', 'stop', 'off'] as const

const storesOf = (
  stores: ReturnType<typeof parseStoreBackends> | undefined,
): Pick<Config, 'blobs' | 'publishes'> => ({
  blobs: stores?.blobs,
  publishes: stores?.outputs ?? true,
})

/** Each reads one setting; what is wrong with it is added to the problems. */
function readers(env: Environment, known: Known, problems: string[]) {
  function take<T>(name: string, parse: (text: string) => T | undefined): T | undefined {
    const setting = known.get(name)
    const text = env[name] || setting?.default
    if (text === undefined) return undefined
    try {
      const value = parse(text)
      if (value !== undefined) return value
      problems.push(
        `${name}: ${JSON.stringify(secret(name) ? '…' : text)} is not ${setting?.form ?? 'valid'}`,
      )
    } catch (error) {
      problems.push(`${name}: ${(error as Error).message}`)
    }
    return undefined
  }
  const takeOr = <T>(name: string, parse: (text: string) => T | undefined, otherwise: T): T =>
    take(name, parse) ?? otherwise
  const secret = (name: string) => /KEY|SECRET|URL|REGISTRIES|HOSTS/.test(name)
  const text = (name: string) => take(name, (value) => value)
  const number = (name: string, least: number, most: number, form = /^\d+$/) =>
    take(name, (value) => {
      const parsed = Number(value)
      return form.test(value) && parsed >= least && parsed <= most ? parsed : undefined
    }) ?? 0
  const choice = <T extends string>(name: string, words: readonly T[]) =>
    take(name, (value) => words.find((word) => word === value)) ?? (words[0] as T)
  const url = (name: string, protocols: RegExp) =>
    take(name, (value) =>
      URL.canParse(value) && protocols.test(new URL(value).protocol) ? value : undefined,
    )
  const fallback = (key: string, base: string): Fallback | undefined => {
    const [apiKey, baseUrl] = [text(key), url(base, /^https?:$/)]
    return apiKey || baseUrl ? { apiKey: apiKey ?? 'none', baseUrl } : undefined
  }
  return { take, takeOr, text, number, choice, url, fallback }
}

type Reader = ReturnType<typeof readers>

function egressConfig({
  take,
  takeOr,
  number,
  choice,
}: Reader): Pick<
  Config,
  | 'egressAllowPrivate'
  | 'egressTenantTargets'
  | 'egressProfile'
  | 'repositoryHosts'
  | 'repositoryBytes'
> {
  return {
    egressAllowPrivate: take('EGRESS_ALLOW_PRIVATE', parseRanges) ?? parseRanges(''),
    egressTenantTargets: takeOr('EGRESS_TENANT_TARGETS', parseTargets, []),
    egressProfile: choice('EGRESS_PROFILE', ['required', 'best_effort', 'disabled']),
    repositoryHosts: takeOr('REPOSITORY_HOSTS', hostNames, []),
    repositoryBytes: number('REPOSITORY_MB', 1, 1_000_000) * 1024 * 1024,
  }
}

function sandboxConfig({
  takeOr,
  text,
  number,
  choice,
}: Reader): Pick<
  Config,
  | 'sandbox'
  | 'sandboxSocket'
  | 'sandboxImage'
  | 'sandboxImages'
  | 'sandboxRoots'
  | 'sandboxIdleMs'
  | 'sandboxLimits'
  | 'sandboxUsers'
  | 'sandboxMemory'
  | 'sandboxProcesses'
  | 'sandboxCpus'
  | 'packages'
> {
  return {
    sandbox: choice('SANDBOX_PROVIDER', ['bubblewrap', 'docker', 'podman', 'local']),
    sandboxSocket: text('SANDBOX_SOCKET'),
    sandboxImage: text('SANDBOX_IMAGE') ?? '',
    sandboxImages: takeOr('SANDBOX_IMAGES', listed, []),
    sandboxRoots: takeOr('SANDBOX_ROOTS', rootFolders, new Map()),
    sandboxIdleMs: number('SANDBOX_IDLE_SECONDS', 1, 86_400) * 1000,
    sandboxLimits: choice('SANDBOX_LIMITS', ['available', 'required']),
    sandboxUsers: choice('SANDBOX_USERS', ['available', 'required', 'shared']),
    sandboxMemory: number('SANDBOX_MEMORY_MB', 64, 1_048_576) * 1024 * 1024,
    sandboxProcesses: number('SANDBOX_PROCESSES', 16, 100_000),
    sandboxCpus: number('SANDBOX_CPUS', 0.1, 1024, /^\d+(\.\d+)?$/),
    packages: {
      sources: takeOr('PACKAGE_REGISTRIES', packageSources, {}),
      buildMs: number('PACKAGE_BUILD_MINUTES', 1, 1_440) * 60_000,
      largest: number('PACKAGE_LAYER_MB', 1, 1_048_576) * 1024 * 1024,
      keptMs: number('PACKAGE_LAYER_DAYS', 1, 3_650) * 24 * 60 * 60 * 1000,
    },
  }
}

const diskConfig = ({ number }: Reader): Config['disk'] => ({
  session: {
    bytes: number('SANDBOX_DISK_MB', 1, 1_048_576) * 1024 * 1024,
    files: number('SANDBOX_DISK_FILES', 100, 1e9),
  },
  floor: {
    bytes: number('STORE_FREE_MB', 0, 1e9) * 1024 * 1024,
    files: number('STORE_FREE_FILES', 0, 1e9),
  },
})

function workerConfig(
  { take, takeOr, number, url }: Reader,
  env: Environment,
): Pick<Config, 'publicUrl' | 'work' | 'workerInputs' | 'checkpoints'> {
  return {
    publicUrl: url('PUBLIC_URL', /^https?:$/),
    work: {
      idleMs: number('WORK_IDLE_SECONDS', 1, 86_400) * 1000,
      unclaimedMs: number('WORK_UNCLAIMED_SECONDS', 1, 86_400) * 1000,
    },
    workerInputs: takeOr('WORKER_INPUTS', inputKinds, []),
    checkpoints: {
      saving:
        take('CHECKPOINTS', (value) => savings.find((each) => each === value)) ??
        (env['DATABASE_URL'] ? 'idle' : 'stop'),
      largest: number('CHECKPOINT_LARGEST_MB', 1, 1_048_576) * 1024 * 1024,
      keptMs: number('CHECKPOINT_DAYS', 1, 36_500) * 24 * 60 * 60 * 1000,
    },
  }
}

function databaseLimits({ number }: Reader): PostgresLimits {
  const connectMs = number('DATABASE_CONNECT_SECONDS', 1, 600) * 1000
  const statementMs = number('DATABASE_STATEMENT_SECONDS', 1, 600) * 1000
  return { connectMs, statementMs, heartbeatMs: Math.min(usualLimits.heartbeatMs, statementMs) }
}

function sharesConfig({ take, number }: Reader): Pick<Config, 'shares' | 'stopMs'> {
  const files = openFilesLimit()
  const atLeastOne = (text: string) => (/^[1-9]\d{0,6}$/.test(text) ? Number(text) : undefined)
  return {
    shares: {
      percent: number('WORKSPACE_SHARE', 1, 100),
      turns: number('RUNNER_SESSIONS', 1, 100_000),
      sandboxes: number('SANDBOX_COUNT', 1, 100_000),
      streams: take('STREAM_COUNT', atLeastOne) ?? Math.min(Math.floor(files / 2), 50_000),
      connections:
        take('EGRESS_CONNECTIONS', atLeastOne) ?? Math.min(Math.floor(files / 8), 16_384),
    },
    stopMs: number('RUNNER_STOP_SECONDS', 0, 3_600) * 1000,
  }
}

export function readConfig(
  env: Environment,
): { ok: true; config: Config } | { ok: false; problems: string[] } {
  const known = new Map(settings.map((setting) => [setting.name, setting]))
  const problems = unusable(env, known)
  const reader = readers(env, known, problems)
  const { take, text, number, choice, url, fallback } = reader
  const longEnough = (value: string) => (value.length >= 16 ? value : undefined)
  const rootSecret = take('PLATFORM_ROOT_SECRET', longEnough)
  if (!env['PLATFORM_ROOT_SECRET']) {
    problems.push(
      'PLATFORM_ROOT_SECRET is missing: it seals keys and tokens at rest. Make one with `openssl rand -hex 32`, and keep it: sealed values are lost with it',
    )
  }
  const config: Config = {
    port: number('PORT', 0, 65_535),
    host: text('HOST') ?? '',
    dataDir: text('DATA_DIR') ?? '',
    sandboxDir: text('SANDBOX_DIR') ?? `${text('DATA_DIR')}/sandboxes`,
    rootSecret: rootSecret ?? '',
    previousRootSecret: take('PLATFORM_ROOT_SECRET_PREVIOUS', longEnough),
    apiKey: text('API_KEY'),
    databaseUrl: url('DATABASE_URL', /^postgres(ql)?:$/),
    databaseLimits: databaseLimits(reader),
    ...storesOf(take('STORE_BACKENDS', parseStoreBackends)),
    files: {
      largest: number('FILES_LARGEST_MB', 1, 51_200) * 1024 * 1024,
      workspace: number('FILES_WORKSPACE_MB', 1, 1_000_000_000) * 1024 * 1024,
      uploadsDownloadable: choice('FILES_UPLOADS_DOWNLOADABLE', ['true', 'false']) === 'true',
    },
    ...egressConfig(reader),
    ...sandboxConfig(reader),
    ...workerConfig(reader, env),
    disk: diskConfig(reader),
    webSearch: {
      apiKey: text('WEB_SEARCH_API_KEY'),
      baseUrl: url('WEB_SEARCH_BASE_URL', /^https?:$/) ?? '',
    },
    retention: {
      deletedMs: number('SESSION_DELETED_HOURS', 1, 87_600) * 60 * 60 * 1000,
      auditMs: number('AUDIT_DAYS', 1, 36_500) * 24 * 60 * 60 * 1000,
    },
    ...sharesConfig(reader),
    embeddingModel: text('STEWARD_EMBEDDING_MODEL') ?? '',
    webhooks: {
      organization: text('PLATFORM_MANAGED_AGENTS_ORGANIZATION_ID'),
      hint: hint(env, problems, { url, take }),
    },
    offlineModel: choice('STEWARD_OFFLINE_MODEL', ['true', 'false']) === 'true',
    offlineThinkMs: number('STEWARD_OFFLINE_THINK_MS', 0, 60_000),
    modelAnswerMs: number('MODEL_ANSWER_MINUTES', 1, 1_440) * 60_000,
    logLevel: choice('STEWARD_LOG_LEVEL', ['info', 'debug', 'warn', 'error']),
    fallbackKeys: {
      anthropic: fallback('ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL'),
      openai: fallback('OPENAI_API_KEY', 'OPENAI_BASE_URL'),
      google: fallback('GEMINI_API_KEY', 'GEMINI_BASE_URL'),
    },
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, config }
}
