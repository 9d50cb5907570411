/** The environment as a configuration, or a refusal to start that names every setting that is wrong. */
import { resolve } from 'node:path'
import { z } from 'zod'
import type { SandboxSettings } from './sandboxes.ts'
import { providers } from './sandboxes.ts'
import { settings } from './settings.ts'

export type WorkerConfig = {
  baseUrl: string
  environmentId: string
  environmentKey: string
  lane: (typeof lanes)[number]
  strategy: (typeof strategies)[number]
  /** Undefined: the reference harness. */
  harness: [string, ...string[]] | undefined
  sessions: number
  pollMs: number
  /** Undefined: no hints are taken. */
  webhook: { host: string; port: number; key: string } | undefined
  leaseSeconds: number
  reserveMs: number
  idleMs: number
  stopMs: number
  dir: string
  keepMs: number
  sandbox: SandboxSettings
  /** What sandboxes reach: what their session may, or nothing but the service, if that. */
  egress: (typeof reaches)[number]
  /** Where this machine's programs are, for a harness. */
  path: string
}

const lanes = ['openma_supervised', 'ama_worker'] as const
const strategies = [
  'claim_then_acquire',
  'poll_unacked_then_dispatch',
  'acquire_then_session_poll',
] as const

const reaches = ['session', 'service'] as const

type Environment = Record<string, string | undefined>
const ours = /^(WORKER_|SANDBOX_)/
const dayMs = 86_400_000

const number = (least: number, most: number) => z.coerce.number<string>().min(least).max(most)
const whole = (least: number, most = 1e9) => number(least, most).int()
const seconds = (least: number, most: number) => number(least, most).transform((s) => s * 1000)
const required = z.string({ error: 'is required' }).min(1)
const words = z.string().transform((text, context): [string, ...string[]] => {
  const read = z.tuple([z.string().min(1)], z.string()).safeParse(parsed(text))
  if (read.success) return read.data
  context.addIssue({ code: 'custom', message: 'no list' })
  return z.NEVER
})

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const Settings = z.object({
  WORKER_BASE_URL: required.pipe(z.url({ protocol: /^https?$/ })),
  WORKER_ENVIRONMENT_ID: required.pipe(z.string().regex(/^[\w-]{1,128}$/)),
  WORKER_ENVIRONMENT_KEY: required,
  WORKER_LANE: z.enum(lanes),
  WORKER_STRATEGY: z.enum(strategies),
  WORKER_HARNESS: words.optional(),
  WORKER_SESSIONS: whole(1, 1000),
  WORKER_POLL_SECONDS: seconds(0, 3600),
  WORKER_WEBHOOK_PORT: whole(0, 65_535).optional(),
  WORKER_WEBHOOK_HOST: z.string(),
  WORKER_WEBHOOK_SIGNING_KEY: z
    .string()
    .regex(/^(whsec_)?[A-Za-z0-9+/]{32,}={0,2}$/)
    .optional(),
  WORKER_LEASE_SECONDS: whole(10, 300),
  WORKER_RESERVE_SECONDS: seconds(5, 3600),
  WORKER_IDLE_SECONDS: seconds(1, 86_400),
  WORKER_STOP_SECONDS: seconds(1, 3600),
  WORKER_DIR: z.string(),
  WORKER_KEEP_DAYS: number(1, 3650),
  WORKER_EGRESS: z.enum(reaches).optional(),
  SANDBOX_PROVIDER: z.enum(providers),
  SANDBOX_SOCKET: z.string().optional(),
  SANDBOX_IMAGE: z.string(),
  SANDBOX_MEMORY_MB: whole(64),
  SANDBOX_PROCESSES: whole(16),
  SANDBOX_CPUS: number(0.1, 1024),
  SANDBOX_DISK_MB: whole(1, 1_048_576),
  SANDBOX_DISK_FILES: whole(100),
  STORE_FREE_MB: whole(0),
  STORE_FREE_FILES: whole(0),
})
type Settings = z.infer<typeof Settings>

export function readConfig(
  env: Environment,
): { ok: true; config: WorkerConfig } | { ok: false; problems: string[] } {
  const forms = new Map(settings.map((setting) => [setting.name, setting]))
  const unknown = Object.keys(env)
    .filter((name) => ours.test(name) && env[name] && !forms.has(name))
    .map((name) => `${name} is not a setting of this worker; --help lists them`)
  const given = settings.map(({ name, default: usual }) => [name, env[name] || usual] as const)
  const read = Settings.safeParse(Object.fromEntries(given))
  if (!read.success) {
    const wrong = read.error.issues.map(({ path: [name = ''], message }) => {
      const form = forms.get(String(name))?.form
      return env[String(name)]
        ? `${String(name)} is not ${form ?? 'valid'}`
        : `${String(name)} ${message}`
    })
    return { ok: false, problems: [...unknown, ...wrong] }
  }
  const config = { ...configOf(read.data), path: env['PATH'] ?? '' }
  const problems = [...unknown, ...contradictions(config), ...halves(env)]
  return problems.length > 0 ? { ok: false, problems } : { ok: true, config }
}

function halves(env: Environment): string[] {
  const [port, key] = ['WORKER_WEBHOOK_PORT', 'WORKER_WEBHOOK_SIGNING_KEY'] as const
  if (Boolean(env[port]) === Boolean(env[key])) return []
  return env[port]
    ? [`${port} needs ${key}: hints that nobody signed are not believed`]
    : [`${key} needs ${port}`]
}

function contradictions({ lane, strategy, harness, egress }: WorkerConfig): string[] {
  if (strategy === 'acquire_then_session_poll' && lane === 'ama_worker' && egress === 'session')
    return [
      'WORKER_EGRESS=session goes by the claim, and with WORKER_STRATEGY=acquire_then_session_poll the sandbox alone has it: choose another strategy, or WORKER_EGRESS=service',
    ]
  if (lane === 'ama_worker')
    return harness ? ['WORKER_HARNESS is for WORKER_LANE=openma_supervised'] : []
  if (strategy === 'claim_then_acquire') return []
  return [
    `WORKER_STRATEGY=${strategy} leaves heartbeat and stop to the sandbox, and WORKER_LANE=openma_supervised to this worker: choose ama_worker or claim_then_acquire`,
  ]
}

function webhookOf(given: Settings): WorkerConfig['webhook'] {
  const { WORKER_WEBHOOK_PORT: port, WORKER_WEBHOOK_SIGNING_KEY: key } = given
  if (port === undefined || key === undefined) return undefined
  return { host: given.WORKER_WEBHOOK_HOST, port, key }
}

const configOf = (given: Settings): Omit<WorkerConfig, 'path'> => ({
  baseUrl: given.WORKER_BASE_URL.replace(/\/+$/, ''),
  environmentId: given.WORKER_ENVIRONMENT_ID,
  environmentKey: given.WORKER_ENVIRONMENT_KEY,
  lane: given.WORKER_LANE,
  strategy: given.WORKER_STRATEGY,
  harness: given.WORKER_HARNESS,
  sessions: given.WORKER_SESSIONS,
  pollMs: given.WORKER_POLL_SECONDS,
  webhook: webhookOf(given),
  leaseSeconds: given.WORKER_LEASE_SECONDS,
  reserveMs: given.WORKER_RESERVE_SECONDS,
  idleMs: given.WORKER_IDLE_SECONDS,
  stopMs: given.WORKER_STOP_SECONDS,
  dir: resolve(given.WORKER_DIR),
  keepMs: given.WORKER_KEEP_DAYS * dayMs,
  // What runs in the sandbox of the other lane holds a key of the environment, which could be sent anywhere.
  egress: given.WORKER_EGRESS ?? (given.WORKER_LANE === 'ama_worker' ? 'service' : 'session'),
  sandbox: {
    provider: given.SANDBOX_PROVIDER,
    ...(given.SANDBOX_SOCKET === undefined ? {} : { socket: given.SANDBOX_SOCKET }),
    image: given.SANDBOX_IMAGE,
    memory_mb: given.SANDBOX_MEMORY_MB,
    processes: given.SANDBOX_PROCESSES,
    cpus: given.SANDBOX_CPUS,
    disk_mb: given.SANDBOX_DISK_MB,
    disk_files: given.SANDBOX_DISK_FILES,
    free_mb: given.STORE_FREE_MB,
    free_files: given.STORE_FREE_FILES,
  },
})
