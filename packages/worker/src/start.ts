/** Builds a worker from its parts and runs it until it is told to stop. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import type { SandboxProvider } from '@steward/sandbox/sandbox.ts'
import { runOfficial } from './ama/run.ts'
import type { WorkerConfig } from './config.ts'
import { foldersBelow, makeEmpty } from './folders.ts'
import type { Hints } from './hints/hints.ts'
import { noHints } from './hints/hints.ts'
import { receiveHints } from './hints/receiver.ts'
import { runItem } from './item.ts'
import { amaWorker, openmaSupervised } from './lanes.ts'
import { launchOn } from './launcher.ts'
import { explainListenFailure } from '@steward/base/listening.ts'
import { workerSettings } from './settings.ts'
import type { Log } from '@steward/base/log.ts'
import { makeFolder } from '@steward/base/make-folder.ts'
import { pollOn } from './poller.ts'
import { createDiskQuota, createSandboxProvider } from './sandboxes.ts'
import { serviceAt } from './service.ts'
import { removeLeftovers } from './temporary-folder.ts'

/** Time until a sandbox's worker must have polled. */
const startMs = 10_000
/** The service's default, for a worker that acknowledges at once. */
const reservationMs = 5_000

async function checked(config: WorkerConfig, log: Log): Promise<SandboxProvider> {
  const provider = createSandboxProvider(config.sandbox, (line) => log.info('image', { line }))
  const check = await provider.check()
  if (check.ok) {
    log.info('sandboxes', { provider: provider.name, ...check.isolation })
    return provider
  }
  throw new Error(
    `sandboxes (${provider.name}) do not start here: ${check.why}. To mend it: ${check.remedy}`,
  )
}

/** Receives hints until the signal aborts. A sender that finds no receiver tries again. */
async function listening(
  { webhook, dir }: WorkerConfig,
  log: Log,
  signal: AbortSignal,
): Promise<Hints> {
  if (!webhook) return noHints
  const hints = receiveHints({ ...webhook, folder: join(dir, 'intents') }, log)
  const receiver = await explainListenFailure(workerSettings.settings.webhook.port.name, hints)
  log.info('listening for hints', { host: webhook.host, port: receiver.port })
  signal.addEventListener('abort', () => void receiver.close(), { once: true })
  return receiver
}

/** Resolves when the signal has aborted and nothing runs any more. */
export async function startWorker(
  config: WorkerConfig,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const { baseUrl, environmentId, environmentKey, lane, strategy } = config
  await makeFolder(resolve(config.dir), 0o700).catch((cause: unknown) => {
    const { name } = workerSettings.settings.dir
    const why = (cause as Error).message
    throw new Error(`${config.dir} cannot be used: name another folder by ${name} (${why})`, {
      cause,
    })
  })
  const folders = foldersBelow(config.dir)
  await folders.removeUnused(config.keepMs, Date.now())
  const leftovers = await removeLeftovers(Date.now())
  if (leftovers.length > 0) log.info('what killed workers left was removed', { folders: leftovers })
  const provider = await checked(config, log)
  const quota = createDiskQuota(config.sandbox, config.dir, (message, details) =>
    log.warn(message, details),
  )
  signal.addEventListener('abort', () => void quota.close(), { once: true })
  const workerId = `${hostname()}-${randomUUID()}`
  const service = serviceAt({ baseUrl, environmentId, environmentKey, workerId })
  const hints = await listening(config, log, signal)
  const reached = () =>
    log.info('working', { environment: environmentId, lane, strategy, sandbox: provider.name })
  const common = { service, hints, most: config.sessions, pauseMs: config.pollMs, reached, log }
  if (strategy === 'acquire_then_session_poll') {
    const launch = async (): Promise<void> => {
      const id = `vm-${randomUUID()}`
      const told = {
        ANTHROPIC_ENVIRONMENT_ID: environmentId,
        ANTHROPIC_ENVIRONMENT_KEY: environmentKey,
      }
      const variablesFor = (url: string) => ({ ...told, ANTHROPIC_BASE_URL: url })
      try {
        const session = await folders.of(id)
        await makeEmpty(session)
        await runOfficial({ ...config, provider, quota }, id, session, variablesFor, signal)
      } finally {
        await folders.forget(id)
      }
    }
    return launchOn({ ...common, startMs, launch }, signal)
  }
  const acknowledges = strategy === 'claim_then_acquire'
  const run = lane === 'ama_worker' ? amaWorker(config, provider, quota) : openmaSupervised(config)
  const deps = { environmentId, environmentKey, folders, lane: run, log }
  return pollOn(
    {
      ...common,
      acknowledges,
      reclaimMs: acknowledges ? reservationMs : config.reserveMs,
      run: (item, claim, left) => runItem(deps, item, claim, left),
    },
    signal,
  )
}
