/** The sandbox provider and the limits that a configuration names. */
import { startCommand } from '@steward/base/own-command.ts'
import { resolve } from 'node:path'
import { canConfine } from '@steward/space/working-folder/confine-command.ts'
import { bubblewrapSandboxes } from '@steward/sandbox/bubblewrap/bubblewrap.ts'
import { dockerSandboxes } from '@steward/sandbox/docker/docker.ts'
import { localSandboxes } from '@steward/sandbox/local.ts'
import { noSandboxes } from '@steward/sandbox/no-sandboxes.ts'
import { scratchOf } from '@steward/sandbox/scratch.ts'
import type { Isolation, SandboxLimits, SandboxProvider } from '@steward/sandbox/sandbox.ts'
import type { Config } from '../ground/config/config.ts'
import { serverProgram } from '../ground/config/settings.ts'
import type { Log } from '@steward/base/log.ts'

/** Launchers in reserve, for sandboxes that start in the same moment. */
const spareLaunchers = 2

function providerOf(config: Config, log: Log): SandboxProvider {
  const { sandbox, sandboxSocket, sandboxImage, sandboxImages, sandboxRoots } = config
  if (sandbox === 'local') return localSandboxes()
  if (sandbox === 'none') return noSandboxes()
  if (sandbox === 'bubblewrap')
    return bubblewrapSandboxes({ roots: sandboxRoots, spares: spareLaunchers })
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
  'CHECKPOINTS=idle does no more here than stop: a checkpoint is stored while its sandbox runs only where bubblewrap ' +
  'works (apt-get install bubblewrap), and what a machine that dies had changed since its sandbox started is lost'

type SandboxProviderName = Exclude<Config['sandbox'], 'none'>

const noLimits = {
  why: 'no control group limits the memory of a sandbox: SANDBOX_MEMORY_MB is counted for each process alone (`rlimit`) or not at all (`none`), and one sandbox can take all memory of this machine',
  remedies: {
    bubblewrap: `let the server make control groups: \`Delegate=yes\` in its systemd unit, \`systemd-run --user --scope -p Delegate=yes ${startCommand}\`, or run it as root`,
    docker: 'use an engine that has control groups of version 2, or one that runs as root',
    podman:
      'delegate control groups of version 2 to the user of the engine, or use one that runs as root',
    local: 'use SANDBOX_PROVIDER=bubblewrap, docker or podman',
  } satisfies Record<SandboxProviderName, string>,
}

const noUsers = {
  why: 'sandboxes run as a user of the host that the server shares, and the kernel counts some things for each user: a sandbox that uses up the watches of epoll (fs.epoll.max_user_watches) ends the server',
  remedies: {
    bubblewrap:
      'run the server as root, or give its account subordinate ids: `apt-get install uidmap` and `usermod --add-subuids 1000000-1065535 --add-subgids 1000000-1065535 ACCOUNT`',
    docker: 'run server and engine as root, or use SANDBOX_PROVIDER=bubblewrap',
    podman: 'run server and engine as root, or use SANDBOX_PROVIDER=bubblewrap',
    local: 'use SANDBOX_PROVIDER=bubblewrap, docker or podman',
  } satisfies Record<SandboxProviderName, string>,
}

type MissingLimit = typeof noLimits

/** Throws when a missing limit is required, and logs a warning otherwise. */
function judge(config: Config, isolation: Isolation, log: Log): void {
  const { sandbox, sandboxLimits, sandboxUsers } = config
  if (sandbox === 'none') return
  const lacks = (setting: string, wanted: string, { why, remedies }: MissingLimit): void => {
    const mending = `${why}. To mend it: ${remedies[sandbox]}`
    if (wanted === 'required') throw new Error(`${setting}=required, but ${mending}`)
    log.warn(mending)
  }
  if (!isolation.limits.startsWith('cgroup'))
    lacks(serverProgram.settings.sandboxLimits.name, sandboxLimits, noLimits)
  if (isolation.users === 'shared')
    lacks(serverProgram.settings.sandboxUsers.name, sandboxUsers, noUsers)
}

/** The provider, once its sandboxes start on this machine. Throws an error that tells how to mend a failure. */
export async function startSandboxProvider(config: Config, log: Log): Promise<SandboxProvider> {
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
  judge(config, checked.isolation, log)
  const isSaved = config.sandbox !== 'none' && config.checkpoints.saving === 'idle'
  if (isSaved && !(await canConfine())) log.warn(onlyAtTheEnd)
  return provider
}

export const configuredLimits = (config: Config): SandboxLimits => ({
  memory: config.sandboxMemory,
  processes: config.sandboxProcesses,
  cpus: config.sandboxCpus,
  scratch: scratchOf(config.sandboxMemory),
  file: config.disk.session.bytes,
})
