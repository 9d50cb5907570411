/** Reads the configuration from what is given for the settings, or refuses to start with an error that names every wrong setting. */
import { resolve } from 'node:path'
import { workerCommand } from '@steward/base/own-command.ts'
import { mebibyte } from '@steward/base/settings/kinds.ts'
import { gatherSettings } from '@steward/base/settings/gather.ts'
import { readSettings } from '@steward/base/settings/program.ts'
import type { SettingSources } from '@steward/base/settings/sources.ts'
import { noFiles } from '@steward/base/settings/sources.ts'
import type { ProcessVariables, SettingsValues } from '@steward/base/settings/setting.ts'
import type { SandboxSettings } from './sandboxes.ts'
import { workerSettings } from './settings.ts'

type WorkerValues = SettingsValues<typeof workerSettings.settings>

export type WorkerConfig = ReturnType<typeof configOf>

export const workerConfiguration = {
  program: workerSettings,
  command: `${workerCommand} config`,
  schema: 'worker.schema.json',
}

type ConfigReading = { ok: true; config: WorkerConfig } | { ok: false; problems: string[] }

/** Reads the variables, and the files that they name. */
export async function readGivenConfig(environment: ProcessVariables): Promise<ConfigReading> {
  const { variables, ...sources } = await gatherSettings(workerSettings, environment)
  return readConfig(variables, sources)
}

/** `environment`: the variables, and under their names what files give. */
export function readConfig(
  environment: ProcessVariables,
  sources: SettingSources = noFiles,
): ConfigReading {
  const read = readSettings(workerSettings, environment, sources)
  if (!read.ok) return read
  const config = configOf(read.values, environment)
  const problems = [...contradictions(config), ...halves(environment)]
  return problems.length > 0 ? { ok: false, problems } : { ok: true, config }
}

function halves(environment: ProcessVariables): string[] {
  const { port, key } = workerSettings.settings.webhook
  if (Boolean(environment[port.name]) === Boolean(environment[key.name])) return []
  return environment[port.name]
    ? [`${port.name} needs ${key.name}: the worker believes no unsigned hint`]
    : [`${key.name} needs ${port.name}`]
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

function webhookOf({ host, port, key }: WorkerValues['webhook']) {
  return port === undefined || key === undefined ? undefined : { host, port, key }
}

const sandboxOf = ({ sandbox, disk }: WorkerValues): SandboxSettings => ({
  provider: sandbox.provider,
  ...(sandbox.socket === undefined ? {} : { socket: sandbox.socket }),
  image: sandbox.image,
  memory_mb: sandbox.memory / mebibyte,
  processes: sandbox.processes,
  cpus: sandbox.cpus,
  disk_mb: disk.session.bytes / mebibyte,
  disk_files: disk.session.files,
  free_mb: disk.floor.bytes / mebibyte,
  free_files: disk.floor.files,
})

const compileCache = 'NODE_COMPILE_CACHE'

/**
 * Values that depend on several settings. `path`: PATH for a harness. `compiled`: variables for the bundled harness
 * that name this program's compile cache, if there is one.
 */
function configOf({ disk, ...given }: WorkerValues, environment: ProcessVariables) {
  const cache = environment[compileCache]
  const compiled: Record<string, string> = cache === undefined ? {} : { [compileCache]: cache }
  return {
    ...given,
    path: environment['PATH'] ?? '',
    compiled,
    baseUrl: given.baseUrl.replace(/\/+$/, ''),
    dir: resolve(given.dir),
    /** Undefined when the worker receives no hints. */
    webhook: webhookOf(given.webhook),
    // In the other lane the sandbox holds an environment key, which commands could send anywhere.
    egress:
      given.egress ?? (given.lane === 'ama_worker' ? ('service' as const) : ('session' as const)),
    sandbox: sandboxOf({ ...given, disk }),
  }
}
