/** The command `integrations`. */
import { jsonLog } from '@steward/base/log.ts'
import { gatherSettings } from '@steward/base/settings/gather.ts'
import type { ProcessVariables } from '@steward/base/settings/setting.ts'
import { logUnhandledFailures } from '@steward/base/unhandled-failures.ts'
import { systemClock } from '@steward/base/time.ts'
import { trustAuthorities } from '../../ground/core/security/authorities.ts'
import { startProcess } from '../../surfaces/integrations/process.ts'
import { integrationsProgram, readProcessSettings } from '../../surfaces/integrations/settings.ts'

/** Runs the integrations process until SIGTERM or SIGINT. */
export async function serveIntegrations(environment: ProcessVariables): Promise<void> {
  const { variables, ...sources } = await gatherSettings(integrationsProgram, environment)
  const settings = readProcessSettings(variables, sources)
  trustAuthorities(settings.outgoing.authorities)
  const log = jsonLog((line) => process.stderr.write(line), settings.logLevel)
  logUnhandledFailures(log)
  const running = await startProcess(settings, { log, clock: systemClock })
  const { promise: told, resolve: end } = Promise.withResolvers<void>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, end)
  // Who reads this line may send a signal at once.
  log.info('listening', { url: `http://${settings.host}:${running.port}` })
  await told
  await running.close()
}
