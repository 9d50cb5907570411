/** The integrations process. A service with the same internal secret takes deliveries only from it. */
import { jsonLog } from '@steward/base/log.ts'
import { systemClock } from '@steward/base/time.ts'
import { startProcess } from '@steward/server/surfaces/integrations/process.ts'
import { readProcessSettings } from '@steward/server/surfaces/integrations/settings.ts'

export type IntegrationsProcess = { base: string; close: () => Promise<void> }

/** Setting of both processes. */
export const internalSecret = {
  INTEGRATIONS_INTERNAL_SECRET: 'shared by the service and its front',
}

export async function startIntegrations(
  service: string,
  env: Record<string, string>,
): Promise<IntegrationsProcess> {
  const given = { PORT: '0', INTEGRATIONS_SERVICE_URL: `${service}/`, ...env }
  const log = jsonLog(() => {})
  const running = await startProcess(readProcessSettings(given), { log, clock: systemClock })
  return { base: `http://127.0.0.1:${running.port}`, close: running.close }
}
