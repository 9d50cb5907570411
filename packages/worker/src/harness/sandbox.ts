/**
 * The sandbox of a session: started by the first call that needs it, started again after it has ended, and closed with
 * the harness.
 */
import { runOnce } from '@steward/base/shared-runs.ts'
import type { MountedKinds } from '@steward/space/mounted-kinds.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import type { SandboxSettings } from '../sandboxes.ts'
import { toSandboxLimits, createDiskQuota, createSandboxProvider } from '../sandboxes.ts'
import type { Start } from '../supervisor/protocol.ts'
import type { EgressTunnel } from '../tunnel.ts'

export const closeWithinMs = 1_500

export type SessionSandbox = ReturnType<typeof sessionSandbox>

type SandboxParts = {
  settings: SandboxSettings
  tunnel: EgressTunnel | undefined
  /** Host folder of memory stores. */
  stores: string
  /** Inputs of the first sandbox. */
  inputs: MountedKinds
  /** Mounts the inputs of each later sandbox. */
  mountInputs: () => Promise<MountedKinds>
}

type RunningSandbox = { sandbox: Sandbox; inputs: MountedKinds }

const report = (line: string): void => void process.stderr.write(`${line}\n`)

export function sessionSandbox(start: Start, { settings, tunnel, stores, ...parts }: SandboxParts) {
  const provider = createSandboxProvider(settings, report)
  const quota = createDiskQuota(settings, start.workdir, (message, details) =>
    report(`${message}: ${JSON.stringify(details)}`),
  )
  const notices = start.notice === undefined ? [] : [start.notice]
  const written = [start.workdir, start.outputs, start.user ?? [], stores].flat()
  let inputs: MountedKinds | undefined = parts.inputs
  let isKnown = start.is_known ?? true
  let released: Promise<void> = Promise.resolve()
  let isClosing = false

  /** Ends the mounted inputs before another sandbox starts. */
  async function release({ inputs: own }: RunningSandbox): Promise<void> {
    if (isClosing) return
    running.forget()
    inputs = undefined
    await own.ended().catch((error: Error) => report(`inputs were not kept: ${error.message}`))
  }

  const running = runOnce(async (): Promise<RunningSandbox> => {
    await released
    const own = (inputs ??= await parts.mountInputs())
    const spec = {
      id: start.session_id,
      workspace: start.workdir,
      outputs: start.outputs,
      ...(own.outputsAt !== undefined && { outputsAt: own.outputsAt }),
      isPrefilled: true,
      env: { ...own.env, ...tunnel?.variables },
      egress: tunnel?.egress ?? null,
      mounts: own.mounts,
      path: own.path,
      limits: toSandboxLimits(settings),
    }
    const disk = await quota.watch({ session: spec.id, folders: written, isKnown })
    await provider.reap(spec)
    const sandbox = await provider.acquire(spec)
    isKnown = true
    const mine = { sandbox, inputs: own }
    void sandbox.ended.then(async () => {
      released = release(mine)
      await disk.ended()
    })
    try {
      await disk.started(sandbox)
      await own.started(sandbox)
      return mine
    } catch (error) {
      await sandbox.close()
      throw error
    }
  })

  return {
    async open(): Promise<Sandbox> {
      const { sandbox, inputs: own } = await running()
      await own.before(sandbox)
      return sandbox
    },
    /** Call after a call that may have changed a file. Returns lines for the model. */
    async changed(): Promise<readonly string[]> {
      const found = running.current()
      if (!found) return []
      const { sandbox, inputs: own } = await found
      return [...notices.splice(0), ...(await own.changed(sandbox))]
    },
    /** Call after any call. Returns lines for the model. */
    async announced(): Promise<readonly string[]> {
      const found = running.current()
      if (!found) return []
      const { sandbox, inputs: own } = await found
      return own.announced(sandbox)
    },
    /** Call when all calls have ended and the session rests. */
    async rested(): Promise<void> {
      const found = running.current()
      if (!found) return
      const { sandbox, inputs: own } = await found
      await own.rested(sandbox)
    },
    /** `left`: the claim belongs to another worker; nothing is sent under it any more. */
    async close(how: 'rested' | 'left'): Promise<void> {
      isClosing = true
      const late = new Promise<string>((resolve) => setTimeout(resolve, closeWithinMs, 'late'))
      const ending = running
        .current()
        ?.then(({ sandbox }) => sandbox.close())
        .catch(() => 'late')
      const ended = await Promise.race([ending, late])
      await quota.close()
      await tunnel?.close()
      await Promise.race([released, late])
      // Folders are read from outside only when no process writes to them any more.
      if (how === 'rested' && ended !== 'late') await inputs?.ended()
    },
  }
}
