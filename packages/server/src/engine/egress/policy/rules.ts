/** What an environment lets out. [environments/network/allowlist] [environments/network/denylist] */
import type { RefusalReason, Target } from '@steward/gate/outbound.ts'
import { hostList, hostPolicy, isBadPort, normalHost } from '@steward/gate/policy.ts'
import type { EnvironmentRecord } from '@steward/protocol/environments.ts'
import type { OutboundCaller } from '../binding.ts'
import { registries } from './registries.ts'
import { portOf, refused } from '../inject/upstream.ts'

export type RuleObjection = { reason: RefusalReason; message: string }

export interface Rules {
  /** For whatever a sandbox, or a tool on its behalf, wants to reach. */
  outbound(target: Target): RuleObjection | undefined
  /** For an MCP server that the agent names. */
  server(url: URL): RuleObjection | undefined
  /** Throws `Refused`. */
  judge(url: URL, caller: OutboundCaller): void
}

type Environment = Pick<
  EnvironmentRecord,
  'limited' | 'allowlist' | 'denylist' | 'allow_mcp_servers' | 'allow_package_managers'
>

export function rulesOf(environment: Environment): Rules {
  const { limited, allowlist, denylist, allow_mcp_servers, allow_package_managers } = environment
  const allow = allow_package_managers
    ? [...allowlist, ...Object.values(registries).flat()]
    : allowlist
  const policy = hostPolicy({ limited, allow, deny: denylist })
  const denied = hostList(denylist)

  function outbound({ host, port }: Target): RuleObjection | undefined {
    const reason = policy(host) ?? (isBadPort(port) ? 'port' : undefined)
    return reason && { reason, message: sentence(reason, { host, port }) }
  }

  function server(url: URL): RuleObjection | undefined {
    const { hostname: host } = url
    if (limited && !allow_mcp_servers) {
      return {
        reason: 'not_allowed',
        message: `the environment's network is limited and does not say allow_mcp_servers: the MCP server at ${host} is not contacted`,
      }
    }
    const name = normalHost(host)
    if (name !== undefined && denied(name)) {
      return { reason: 'denied', message: sentence('denied', { host, port: portOf(url) }) }
    }
    return undefined
  }

  return {
    outbound,
    server,
    judge(url, caller) {
      const objection =
        caller === 'rpc-outbound'
          ? outbound({ host: url.hostname, port: portOf(url) })
          : server(url)
      if (objection) throw refused(url, objection.reason, objection.message)
    },
  }
}

function sentence(reason: RefusalReason, { host, port }: Target): string {
  switch (reason) {
    case 'denied':
      return `${host} is on the environment's denylist`
    case 'bare_address':
      return `${host} is a bare address; hosts are reached by name`
    case 'port':
      return `port ${port} of ${host} belongs to another protocol than HTTP`
    default:
      return `${host} is not among the hosts that the environment allows`
  }
}
