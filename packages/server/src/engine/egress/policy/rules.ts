/**
 * The rules by which an environment lets calls out. [environments/network/allowlist] [environments/network/denylist]
 */
import type { RefusalReason, GateTarget } from '@steward/gate/outbound.ts'
import { RequestRefused } from '@steward/gate/outbound.ts'
import { hostList, hostPolicy, isBadPort, normalHost } from '@steward/gate/policy.ts'
import type { EnvironmentRecord } from '@steward/protocol/environments.ts'
import { packageRegistries } from './registries.ts'

/** The caller: the MCP proxy's route, the harness, or the sandbox. [proxy/log/caller] */
export type OutboundCaller = 'http' | 'rpc-mcp' | 'rpc-outbound'

type RuleObjection = { reason: RefusalReason; message: string }

/** The parts of an environment that decide. */
export type RuledEnvironment = Pick<
  EnvironmentRecord,
  'limited' | 'allowlist' | 'denylist' | 'allow_mcp_servers' | 'allow_package_managers'
>

export type EgressRules = ReturnType<typeof createEgressRules>

export function createEgressRules(environment: RuledEnvironment) {
  const { limited, allowlist, denylist, allow_mcp_servers, allow_package_managers } = environment
  const allow = allow_package_managers
    ? [...allowlist, ...Object.values(packageRegistries).flat()]
    : allowlist
  const policy = hostPolicy({ limited, allow, deny: denylist })
  const denied = hostList(denylist)

  /** Checks a host that a sandbox, or a tool for it, calls. */
  function outbound({ host, port }: GateTarget): RuleObjection | undefined {
    const reason = policy(host) ?? (isBadPort(port) ? 'port' : undefined)
    return reason && { reason, message: sentence(reason, { host, port }) }
  }

  /** Checks an MCP server that the agent names. */
  function server(url: URL): RuleObjection | undefined {
    const target = toGateTarget(url)
    const { host } = target
    if (limited && !allow_mcp_servers) {
      return {
        reason: 'not_allowed',
        message: `the environment's network is limited and does not say allow_mcp_servers: the MCP server at ${host} is not contacted`,
      }
    }
    const name = normalHost(host)
    const isDenied = name !== undefined && denied(name)
    return isDenied ? { reason: 'denied', message: sentence('denied', target) } : undefined
  }

  /** True for a host that a sandbox may call, and for `*.suffix` when it may call some host below the suffix. */
  function mayReach(host: string): boolean {
    if (!host.startsWith('*.')) return policy(host) === undefined
    const suffix = host.slice(1).toLowerCase()
    const below = allow.filter((entry) => entry.toLowerCase().endsWith(suffix))
    return [`*${suffix}`, ...below].some((each) => policy(each.replace('*', 'any')) === undefined)
  }

  return {
    outbound,
    server,
    mayReach,
    /** Throws `RequestRefused`. */
    judge(url: URL, caller: OutboundCaller): void {
      const objection = caller === 'rpc-outbound' ? outbound(toGateTarget(url)) : server(url)
      if (objection) throw refusalError(toGateTarget(url), objection.reason, objection.message)
    },
  }
}

export const toGateTarget = ({ hostname, port, protocol }: URL): GateTarget => ({
  host: hostname,
  port: Number(port) || (protocol === 'http:' || protocol === 'ws:' ? 80 : 443),
})

export const refusalError = (
  { host, port }: GateTarget,
  reason: RefusalReason,
  message: string,
): RequestRefused => new RequestRefused({ host, port, reason, message })

function sentence(reason: RefusalReason, { host, port }: GateTarget): string {
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
