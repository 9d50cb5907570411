/** The sandboxes that a configuration names, and their limits. */
import { resolve } from 'node:path'
import { canConfine } from '@steward/harness/furnish/workspace/confined.ts'
import { bubblewrapSandboxes } from '@steward/sandbox/bubblewrap/bubblewrap.ts'
import { dockerSandboxes } from '@steward/sandbox/docker/docker.ts'
import { localSandboxes } from '@steward/sandbox/local.ts'
import { scratchOf } from '@steward/sandbox/scratch.ts'
import type { SandboxLimits, SandboxProvider } from '@steward/sandbox/sandbox.ts'
import type { Config } from '../config.ts'
import type { Log } from '../core/log.ts'

function providerOf(config: Config, log: Log): SandboxProvider {
  const { sandbox, sandboxSocket, sandboxImage, sandboxImages, sandboxRoots } = config
  if (sandbox === 'local') return localSandboxes()
  if (sandbox === 'bubblewrap') return bubblewrapSandboxes({ roots: sandboxRoots })
  return dockerSandboxes({
    name: sandbox,
    socket: sandboxSocket,
    image: sandboxImage,
    ...(sandboxImages.length > 0 && { allowed: sandboxImages }),
    folder: resolve(config.sandboxDir),
    report: (line) => log.info('image', { line }),
  })
}

const onlyAtTheEnd =
  'CHECKPOINTS=idle does no more here than stop: a workspace is put aside while its sandbox runs only where bubblewrap ' +
  'works (apt-get install bubblewrap), and what a machine that dies had changed since its sandbox started is lost'

/** Those that work on this machine; throws, saying how to mend it, when they do not. */
export async function sandboxes(config: Config, log: Log): Promise<SandboxProvider> {
  const provider = providerOf(config, log)
  const checked = await provider.check()
  if (!checked.ok) {
    throw new Error(
      `sandboxes (${provider.name}) do not start here: ${checked.why}. To mend it: ${checked.remedy}`,
    )
  }
  if (config.egressProfile === 'required' && !checked.isolation.gate) {
    throw new Error(
      `EGRESS_PROFILE=required needs sandboxes that have no way around the gate, and those of ${provider.name} have one. ` +
        'To mend it: use SANDBOX_PROVIDER=bubblewrap, docker or podman, or say EGRESS_PROFILE=best_effort or disabled',
    )
  }
  log.info('sandboxes', { provider: provider.name, ...checked.isolation })
  if (config.checkpoints.saving === 'idle' && !(await canConfine())) log.warn(onlyAtTheEnd)
  return provider
}

export const limitsOf = (config: Config): SandboxLimits => ({
  memory: config.sandboxMemory,
  processes: config.sandboxProcesses,
  cpus: config.sandboxCpus,
  scratch: scratchOf(config.sandboxMemory),
})
