/**
 * The lane `ama_worker`: runs the official worker in its own sandbox. That worker sends the heartbeats and the stop.
 */
import type { DiskQuota } from '@steward/space/working-folder/quota.ts'
import type { MountedKinds } from '@steward/space/mounted-kinds.ts'
import { quoteWord } from '@steward/sandbox/quote-word.ts'
import type { Sandbox, SandboxProvider, ShellResult } from '@steward/sandbox/sandbox.ts'
import { openServiceProxy, insideUrl } from '../service-proxy.ts'
import type { SessionFolders } from '../folders.ts'
import type { SandboxSettings } from '../sandboxes.ts'
import { toSandboxLimits } from '../sandboxes.ts'
import type { EgressTunnel } from '../tunnel.ts'
import { inSandbox, onHost } from './official.ts'

export type AmaOptions = {
  provider: SandboxProvider
  sandbox: SandboxSettings
  quota: DiskQuota
  baseUrl: string
  idleMs: number
  stopMs: number
  /** The sandbox's egress besides the service; undefined for none. */
  tunnel?: EgressTunnel | undefined
  /** Inputs that are mounted before the official worker starts. */
  inputs?: Pick<MountedKinds, 'mounts' | 'started'>
}

/** Time limit of the command, which ends with its session. */
const longestMs = 7 * 24 * 3_600_000

/** `variablesFor` gets the service's URL as seen inside. Rejects with `SandboxEnded` when nothing was started. */
export async function runOfficial(
  { provider, sandbox: settings, quota, baseUrl, idleMs, stopMs, tunnel, inputs }: AmaOptions,
  id: string,
  session: SessionFolders,
  variablesFor: (baseUrl: string) => Record<string, string>,
  signal: AbortSignal,
): Promise<ShellResult> {
  const isHost = settings.provider === 'local'
  const official = isHost ? onHost : inSandbox()
  const serviceProxy = isHost ? undefined : await openServiceProxy(baseUrl, tunnel?.egress)
  const spec = {
    id,
    workspace: session.workspace,
    outputs: session.outputs,
    isPrefilled: true,
    env: { ...tunnel?.variables },
    egress: serviceProxy?.egress ?? null,
    mounts: [
      ...official.mounts,
      ...(inputs?.mounts ?? []),
      ...(isHost
        ? []
        : [{ source: session.memory, path: '/mnt/memory', access: 'write' as const }]),
    ],
    limits: toSandboxLimits(settings),
  }
  const { workspace, outputs, user, memory } = session
  const folders = [workspace, outputs, user, memory]
  try {
    const disk = await quota.watch({ session: id, folders, isKnown: true })
    await provider.reap(spec)
    const sandbox = await provider.acquire(spec)
    try {
      await disk.started(sandbox)
      await inputs?.started(sandbox)
      const stopFile = isHost ? `${session.folder}/stop` : '/tmp/.steward-stop'
      return await serve(sandbox, {
        command: `exec node ${[official.program, stopFile, String(idleMs)].map(quoteWord).join(' ')}`,
        secretEnv: variablesFor(isHost ? baseUrl : insideUrl),
        stopFile,
        stopMs,
        signal,
      })
    } finally {
      await disk.ended()
      await sandbox.close()
    }
  } finally {
    await serviceProxy?.close()
  }
}

async function serve(
  sandbox: Sandbox,
  run: {
    command: string
    /** SECRET: never logged. */
    secretEnv: Record<string, string>
    stopFile: string
    stopMs: number
    signal: AbortSignal
  },
): Promise<ShellResult> {
  const { command, secretEnv, stopFile, stopMs, signal } = run
  await sandbox.remove(stopFile, stopFile)
  const given = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const stop = (): void => {
    timer = setTimeout(() => given.abort(), stopMs)
    sandbox.write(stopFile, new Uint8Array()).catch(() => given.abort())
  }
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  try {
    return await sandbox.shell({ command, secretEnv, timeoutMs: longestMs, signal: given.signal })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}
