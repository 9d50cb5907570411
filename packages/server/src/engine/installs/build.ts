/**
 * Builds the packages of an environment into a folder, in a sandbox of no session: system packages first, then each
 * other package manager. The package names are all that the sandbox sees of the tenant.
 */
import { execFile } from 'node:child_process'
import { lstat, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { PackageLists, PackageManager } from '@steward/protocol/packages.ts'
import { packageManagers } from '@steward/protocol/packages.ts'
import type {
  Sandbox,
  SandboxLimits,
  SandboxMount,
  SandboxProvider,
} from '@steward/sandbox/sandbox.ts'
import { bytesBelow } from '@steward/sandbox/disk.ts'
import { SandboxEnded } from '@steward/sandbox/sandbox.ts'
import type { Clock } from '@steward/base/time.ts'
import { aptFiles, aptScript, setUpScript, systemPath, takeScript } from './apt.ts'
import type { RegistryAccess } from './gate.ts'
import { registryGate } from './gate.ts'
import type { Installer } from './managers.ts'
import { builderEnv, installVariables, packagesPrefix, scriptFor } from './managers.ts'
import type { Sources } from './sources.ts'
import { registryHosts } from './sources.ts'
import type { InstallProgress, StepWatch } from './step.ts'
import { BuildFailure, runStep } from './step.ts'

const run = promisify(execFile)

export type BuildDeps = {
  provider: SandboxProvider
  limits: SandboxLimits
  registry: RegistryAccess
  sources: Sources
  /** Largest size of a layer together with the build's own files, in bytes. */
  largest: number
  /** Time limit of a whole build, in ms. */
  timeoutMs: number
  clock: Clock
}

export type WantedInstalls = { packages: PackageLists; image: string | undefined }

export type BuildLayer = (
  wanted: WantedInstalls,
  /**
   * `id` names the sandboxes of the build. `folder` belongs to the build alone; the result is its subfolder `layer`.
   */
  sandbox: { id: string; folder: string },
  progress: InstallProgress,
  signal: AbortSignal,
) => Promise<void>

type BuildContext = {
  deps: BuildDeps
  wanted: WantedInstalls
  id: string
  folder: string
  watch: Omit<StepWatch, 'refusals' | 'clock'>
}

/** Rejects with `BuildFailure`, or with the signal's reason. */
export function createLayerBuilder(deps: BuildDeps): BuildLayer {
  return async (wanted, { id, folder }, progress, signal) => {
    const { largest, timeoutMs, clock } = deps
    const end = clock.now() + timeoutMs
    const at = (name: string) => join(folder, name)
    for (const name of ['workspace', 'outputs', 'layer/system', 'layer/prefix'])
      await mkdir(at(name), { recursive: true })
    const check = async () => {
      const bytes = await bytesBelow(['layer', 'workspace', 'outputs'].map(at))
      if (bytes > largest)
        throw new BuildFailure(null, `it is larger than ${Math.floor(largest / 2 ** 20)} MB`)
    }
    const context: BuildContext = {
      deps,
      wanted,
      id,
      folder,
      watch: { progress, check, signal, leftMs: () => end - clock.now() },
    }
    try {
      if (wanted.packages.apt.length > 0) await buildSystem(context)
      await buildPrefix(context)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof SandboxEnded)) throw error
      throw new BuildFailure(null, `the builder's sandbox ended: ${error.message}`, {
        cause: error,
      })
    }
  }
}

async function buildSystem(context: BuildContext): Promise<void> {
  const { deps, wanted, folder } = context
  const { apt } = wanted.packages
  const root = deps.provider.systemOf(wanted.image)
  if (root === undefined) throw new BuildFailure('apt', 'the system of the sandbox is an image')
  const system = join(folder, 'layer/system')
  const mounts: SandboxMount[] = [{ source: system, path: systemPath, access: 'write' }]
  const files = await aptFiles(root, deps.sources)
  await within(context, { managers: ['apt'], mounts }, async (sandbox, watch) => {
    for (const [path, text] of Object.entries(files)) {
      const written = await sandbox.write(path, Buffer.from(text))
      if (!written.ok) throw new BuildFailure('apt', written.message)
    }
    await runStep(sandbox, 'apt', aptScript(apt), watch)
  })
  await watchSize(context, 'apt')
  await settle(system)
  const say =
    (command: string) =>
    async (sandbox: Sandbox, { leftMs, signal }: StepWatch) => {
      await sandbox.shell({ command, timeoutMs: Math.max(1, leftMs()), signal })
    }
  await within(context, { managers: [], layer: system }, say(setUpScript))
  await within(context, { managers: [], mounts }, say(takeScript))
  await settle(system)
}

async function buildPrefix(context: BuildContext): Promise<void> {
  const { packages } = context.wanted
  const managers = packageManagers.filter((each): each is Installer => each !== 'apt')
  const used = managers.filter((manager) => packages[manager].length > 0)
  if (used.length === 0) return
  const source = join(context.folder, 'layer/prefix')
  const mounts: SandboxMount[] = [{ source, path: packagesPrefix, access: 'write' }]
  const layer = packages.apt.length > 0 ? join(context.folder, 'layer/system') : undefined
  await within(context, { managers: used, mounts, layer }, async (sandbox, watch) => {
    for (const manager of used) {
      const script = scriptFor(manager, packages[manager], context.deps.sources)
      await runStep(sandbox, manager, script, watch)
      await watchSize(context, manager)
    }
  })
  await settle(source)
}

type BuildSandbox = {
  managers: readonly PackageManager[]
  mounts?: readonly SandboxMount[]
  layer?: string | undefined
}

/** Runs `work` in a sandbox that reaches the registries of these managers and nothing else. */
async function within(
  { deps, wanted, id, folder, watch }: BuildContext,
  { managers, mounts = [], layer }: BuildSandbox,
  work: (sandbox: Sandbox, watch: StepWatch) => Promise<void>,
): Promise<void> {
  const { provider, limits, registry: outside, sources, clock } = deps
  const refusals: string[] = []
  const gate = await registryGate(outside, folder, {
    hosts: managers.flatMap((manager) => registryHosts(manager, sources)),
    refused: (line) => void (refusals.includes(line) || refusals.push(line)),
  })
  try {
    const { path, env } = installVariables(managers)
    const sandbox = await provider.acquire({
      id,
      limits,
      mounts,
      path,
      egress: gate,
      workspace: join(folder, 'workspace'),
      outputs: join(folder, 'outputs'),
      isPrefilled: false,
      env: { ...builderEnv, ...env },
      ...(wanted.image !== undefined && { image: wanted.image }),
      ...(layer !== undefined && { layer }),
    })
    try {
      await work(sandbox, { ...watch, clock, refusals })
    } finally {
      await sandbox.close()
    }
  } finally {
    await gate.close()
  }
}

async function watchSize({ watch }: BuildContext, manager: PackageManager): Promise<void> {
  await watch.check().catch((error: unknown) => {
    if (!(error instanceof BuildFailure)) throw error
    watch.progress({ state: 'failed', manager, lines: [] })
    throw new BuildFailure(manager, error.message, { cause: error })
  })
}

/** Gives the folder to the server, readable to all. Nothing runs in the folder any more. */
async function settle(folder: string): Promise<void> {
  if (process.getuid?.() === 0) await run('chown', ['-hR', '0:0', '--', folder])
  await run('chmod', ['-R', 'u=rwX,go=rX,a-s', '--', folder])
  for (const name of ['usr', 'etc']) {
    const stat = await lstat(join(folder, name)).catch(() => undefined)
    if (stat?.isSymbolicLink()) throw new BuildFailure(null, `its ${name} is a link`)
  }
}
