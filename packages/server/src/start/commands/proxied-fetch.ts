/** The proxy and the authorities of the operator, for a command that is no server. */
import { readSettings } from '@steward/base/settings/program.ts'
import type { ProcessVariables } from '@steward/base/settings/setting.ts'
import { serverProgram } from '../../ground/config/settings.ts'

const { outgoing } = serverProgram.settings
const program = { what: 'trial', settings: { outgoing }, prefixes: [] }

/** From then on, `fetch` of this process goes by the proxies that the settings name. The server says what is wrong with them. */
export async function fetchByProxies(variables: ProcessVariables): Promise<void> {
  const read = readSettings(program, variables)
  if (!read.ok) return
  const { httpsProxy, httpProxy, authorities } = read.values.outgoing
  const { trustAuthorities } = await import('../../ground/core/security/authorities.ts')
  trustAuthorities(authorities)
  if (!httpsProxy && !httpProxy) return
  const { guardedAgent, openGuard } = await import('../../ground/core/security/dial.ts')
  const { createProxies } = await import('../../ground/core/security/proxies.ts')
  const { setGlobalDispatcher } = await import('../../ground/core/security/undici.ts')
  setGlobalDispatcher(guardedAgent(openGuard(createProxies(read.values.outgoing))))
}
