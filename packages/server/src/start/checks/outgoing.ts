/** Whether the files and proxies that settings name do what they are there for. */
import { stat } from 'node:fs/promises'
import { settingsFileVariable } from '@steward/base/settings/gather.ts'
import type { ProcessVariables } from '@steward/base/settings/setting.ts'
import type { Config } from '../../ground/config/config.ts'
import { serverProgram } from '../../ground/config/settings.ts'
import { openGuard, guardedDial } from '../../ground/core/security/dial.ts'
import type { ProxyUrl } from '../../ground/core/security/proxies.ts'
import { bareHost, noProxies } from '../../ground/core/security/proxies.ts'
import type { SetupCheck, SetupFinding } from './finding.ts'
import { describeCauses, failed, ok, warning } from './finding.ts'

const { outgoing: names } = serverProgram.settings

/** Says nothing without a proxy: most servers have none. */
export const proxyChecks = ({ outgoing }: Config): SetupCheck[] =>
  [
    { proxy: outgoing.httpsProxy, setting: names.httpsProxy.name },
    { proxy: outgoing.httpProxy, setting: names.httpProxy.name },
  ].flatMap(({ proxy, setting }) => (proxy ? [() => checkProxy(proxy, setting)] : []))

async function checkProxy(proxy: ProxyUrl, setting: string): Promise<SetupFinding> {
  const host = bareHost(proxy.hostname)
  const port = Number(proxy.port) || (proxy.protocol === 'https:' ? 443 : 80)
  try {
    const socket = await guardedDial(openGuard(noProxies), { host, port })
    socket.destroy()
    return ok(`proxy: ${host}:${port} of ${setting} takes connections`)
  } catch (error) {
    return failed(
      `proxy: ${host}:${port} of ${setting} takes no connection: ${describeCauses(error)}`,
      `look at ${setting}, and name what is reached without a proxy by ${names.noProxy.name}`,
    )
  }
}

/** A settings file may hold secrets. */
export async function checkSettingsFile(environment: ProcessVariables): Promise<SetupFinding[]> {
  const path = environment[settingsFileVariable]
  if (!path) return []
  const { mode } = await stat(path)
  return [
    (mode & 0o007) === 0
      ? ok(`settings file: ${path} is closed to other accounts`)
      : warning(
          `settings file: every account of this machine can open ${path}`,
          `where it holds a secret, run \`chmod o= ${path}\``,
        ),
  ]
}
