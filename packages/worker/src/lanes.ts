/** The two lanes, which differ in who sends heartbeats and stops. [worker/lane/ama-worker] [worker/lane/supervised] */
import { fileURLToPath } from 'node:url'
import { awaitLater } from '@steward/base/await-later.ts'
import type { DiskQuota } from '@steward/space/working-folder/quota.ts'
import { arrivalNotice } from '@steward/space/working-folder/checkpoints.ts'
import type { SandboxProvider } from '@steward/sandbox/sandbox.ts'
import { officialInputs } from './ama/inputs.ts'
import { runOfficial } from './ama/run.ts'
import { restoreCheckpoint, saveCheckpoint } from './checkpoints.ts'
import type { WorkerConfig } from './config.ts'
import type { Lane } from './item.ts'
import { NotBegunError } from './item.ts'
import { keepLease } from './lease.ts'
import { readSessionsToken } from './service.ts'
import { openTunnel } from './tunnel.ts'
import type { HarnessPatience } from './supervisor/supervise.ts'
import { superviseHarness } from './supervisor/supervise.ts'
import { runtimeVariables } from './variables.ts'

/** The official worker in the sandbox sends the heartbeats and the stop. */
export const amaWorker =
  (config: WorkerConfig, provider: SandboxProvider, quota: DiskQuota): Lane =>
  async ({ item, claim, folders, told, log, signal }) => {
    const { baseUrl, sandbox, egress } = config
    const claimed = { baseUrl, session: item.session, token: readSessionsToken(item.secret) }
    const isHost = sandbox.provider === 'local'
    const inputs = await officialInputs(claimed, folders, isHost)
    const where = { session: item.session, own: folders.folder, folder: config.dir }
    const { kind } = await restoreCheckpoint(claim, where)
    log.info('the working folder is ready', { session: item.session, kind })
    const isOut = egress === 'session' && !isHost
    const tunnel = isOut ? await openTunnel(claimed) : undefined
    const run = { ...config, provider, quota, tunnel, inputs }
    const variablesFor = (url: string) => runtimeVariables('ANTHROPIC', { ...told, baseUrl: url })
    try {
      const { ended, exitCode, output } = await runOfficial(
        run,
        item.session,
        folders,
        variablesFor,
        signal,
      )
      log.info('the official worker ended', {
        session: item.session,
        ended,
        exitCode,
        ...(exitCode === 0 ? {} : { output: output.slice(-2_000) }),
      })
    } finally {
      await tunnel?.close()
    }
  }

const reference = fileURLToPath(new URL('./harness/main.ts', import.meta.url))

/**
 * This worker sends the heartbeats and the stop. It sends no stop for a lost claim, or for a session that never
 * started.
 */
export const openmaSupervised =
  (config: WorkerConfig, patience?: HarnessPatience): Lane =>
  async ({ item: { work, session }, claim, folders, told, log, signal }) => {
    const lease = keepLease(claim, { ttlSeconds: config.leaseSeconds })
    const where = { session, own: folders.folder, folder: config.dir }
    const arrival = await restoreCheckpoint(claim, where).catch((error: unknown) => {
      lease.close()
      throw error
    })
    log.info('the working folder is ready', { session, kind: arrival.kind })
    const isElsewhere = arrival.kind === 'restored' || arrival.kind === 'lost'
    const notice = isElsewhere ? arrivalNotice(arrival) : undefined
    const harness = superviseHarness({
      command: config.harness ?? [process.execPath, reference],
      env: {
        PATH: config.path,
        ...(config.harness ? {} : config.compiled),
        ...runtimeVariables('VENDOR', { ...told, baseUrl: config.baseUrl }),
      },
      start: {
        environment_id: told.environmentId,
        session_id: session,
        work_id: work,
        workdir: folders.workspace,
        outputs: folders.outputs,
        idle_ms: config.idleMs,
        inputs: folders.inputs,
        lease_ms: Math.floor(lease.leftMs()),
        user: folders.user,
        is_known: arrival.kind === 'here' || arrival.kind === 'restored',
        ...(notice === undefined ? {} : { notice }),
        settings: { sandbox: config.sandbox, egress: config.egress },
      },
      heard(message) {
        if (message.type !== 'event') return
        log.info('harness', { session, event: message.name, ...message.data })
      },
      said: (line) => log.info('harness said', { session, line: line.slice(0, 2_000) }),
      ...(patience ? { patience } : {}),
    })
    lease.follow((forMs) => harness.lease(forMs))
    const shutdown = (): void => harness.stop('shutdown', config.stopMs)
    if (signal.aborted) shutdown()
    else signal.addEventListener('abort', shutdown, { once: true })
    let [isLost, isOver] = [false, false]
    const left = awaitLater(
      lease.ended.then(({ end, why }) => {
        if (end === 'closed') return
        log.info('the lease ended', { session, end, why })
        isLost = end === 'lost'
        if (isOver) return
        if (isLost) harness.abort('lease_lost')
        else harness.stop('stopping', config.stopMs)
      }),
    )
    const { how, wasReady, why, isTold, isLeaseLost } = await harness.ended
    isOver = true
    isLost ||= isLeaseLost
    signal.removeEventListener('abort', shutdown)
    log.info('the harness ended', { session, how, why })
    if (wasReady && !isLost)
      await saveCheckpoint(claim, where).catch((error: Error) =>
        log.warn('the checkpoint was not stored', { session, error: error.message }),
      )
    lease.close()
    await left
    if (isLost) return
    if (wasReady) return claim.stop()
    if (!signal.aborted) throw new NotBegunError(`the harness was not ready: ${why}`, isTold)
  }
