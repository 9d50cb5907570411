/** Asks the secret managers and the key service of the settings. */
import { serverProgram } from '../../ground/config/settings.ts'
import type { ConfiguredManager } from '../../engine/egress/company-secrets/company-secrets.ts'
import type { SetupCheck, SetupFinding } from './finding.ts'
import { failed, ok, warning } from './finding.ts'

const patienceMs = 12_000
/** No secret needs to have this name: a manager that says so has answered. */
const name = 'steward-doctor'

const { secretManagers: setting } = serverProgram.settings

export const managerChecks = (managers: ReadonlyMap<string, ConfiguredManager>): SetupCheck[] =>
  [...managers].map(
    ([manager, { read }]) =>
      () =>
        askManager(manager, read),
  )

async function askManager(manager: string, read: ConfiguredManager['read']): Promise<SetupFinding> {
  const subject = `secret manager ${manager}`
  const found = await read({ name }, AbortSignal.timeout(patienceMs))
  if (found.ok || found.why === 'missing') return ok(`${subject}: it answers, and takes the server`)
  const about = `${subject}: ${found.words}`
  if (found.why === 'denied')
    return warning(
      `${subject}: it takes the server, and does not let it read ${name}: ${found.words}`,
      'look at the policy of the server there, unless it allows the paths of workspaces alone',
    )
  return failed(about, `look at ${setting.name}: address, auth or credentials, and the network`)
}
