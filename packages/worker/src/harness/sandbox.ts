/** The sandbox of a session: started by the first call that needs it, anew when it has ended, and ended with the harness. */
import type { MountedKinds } from '@steward/space/mounted-kinds.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import type { SandboxSettings } from '../sandboxes.ts'
import { limitsOf, quotaOf, sandboxesOf } from '../sandboxes.ts'
import type { Start } from '../supervisor/protocol.ts'
import type { EgressTunnel } from '../tunnel.ts'

export const closeWithinMs = 1_500

export type SessionSandbox = ReturnType<typeof sessionSandbox>

type Parts = {
  settings: SandboxSettings
  tunnel: EgressTunnel | undefined
  /** Host folder of memory stores. */
  stores: string
  /** Of the first sandbox. */
  inputs: MountedKinds
  /** Of each later one. */
  mountInputs: () => Promise<MountedKinds>
}

type Running = { sandbox: Sandbox; inputs: MountedKinds }

const report = (line: string): void => void process.stderr.write(`${line}\n`)

export function sessionSandbox(start: Start, { settings, tunnel, stores, ...parts }: Parts) {
  const provider = sandboxesOf(settings, report)
  const quota = quotaOf(settings, start.workdir, (message, details) =>
    report(`${message}: ${JSON.stringify(details)}`),
  )
  const notices = start.notice === undefined ? [] : [start.notice]
  const written = [start.workdir, start.outputs, start.user ?? [], stores].flat()
  let inputs: MountedKinds | undefined = parts.inputs
  let isKnown = start.is_known ?? true
  let found: Promise<Running> | undefined
  let released: Promise<void> = Promise.resolve()
  let isClosing = false

  /** The end of its mounted kinds comes before the start of another sandbox. */
  async function release({ inputs: own }: Running): Promise<void> {
    if (isClosing) return
    found = undefined
    inputs = undefined
    await own.ended().catch((error: Error) => report(`inputs were not kept: ${error.message}`))
  }

  async function begin(): Promise<Running> {
    await released
    const own = (inputs ??= await parts.mountInputs())
    const spec = {
      id: start.session_id,
      workspace: start.workdir,
      outputs: start.outputs,
      isPrefilled: true,
      env: { ...own.env, ...tunnel?.variables },
      egress: tunnel?.egress ?? null,
      mounts: own.mounts,
      path: own.path,
      limits: limitsOf(settings),
    }
    const disk = await quota.watch({ session: spec.id, folders: written, isKnown })
    await provider.reap(spec)
    const sandbox = await provider.acquire(spec)
    isKnown = true
    const running = { sandbox, inputs: own }
    void sandbox.ended.then(async () => {
      released = release(running)
      await disk.ended()
    })
    try {
      await disk.started(sandbox)
      await own.started(sandbox)
      return running
    } catch (error) {
      await sandbox.close()
      throw error
    }
  }

  async function open(): Promise<Running> {
    const mine = (found ??= begin())
    try {
      return await mine
    } catch (error) {
      if (found === mine) found = undefined
      throw error
    }
  }

  return {
    async open(): Promise<Sandbox> {
      const { sandbox, inputs: own } = await open()
      await own.before(sandbox)
      return sandbox
    },
    /** After a call; lines for the model. */
    async changed(): Promise<readonly string[]> {
      if (!found) return []
      const { sandbox, inputs: own } = await found
      return [...notices.splice(0), ...(await own.changed(sandbox))]
    },
    /** After any call; lines for the model. */
    async announced(): Promise<readonly string[]> {
      if (!found) return []
      const { sandbox, inputs: own } = await found
      return own.announced(sandbox)
    },
    /** What runs has ended, and the session rests. */
    async rested(): Promise<void> {
      if (!found) return
      const { sandbox, inputs: own } = await found
      await own.rested(sandbox)
    },
    /** `left`: the claim is another's, and nothing more is sent under it. */
    async close(how: 'rested' | 'left'): Promise<void> {
      isClosing = true
      const late = new Promise<string>((resolve) => setTimeout(resolve, closeWithinMs, 'late'))
      const ending = found?.then(({ sandbox }) => sandbox.close()).catch(() => 'late')
      const ended = await Promise.race([ending, late])
      await quota.close()
      await tunnel?.close()
      await Promise.race([released, late])
      // Nobody looks from outside into folders that something still writes to.
      if (how === 'rested' && ended !== 'late') await inputs?.ended()
    },
  }
}
