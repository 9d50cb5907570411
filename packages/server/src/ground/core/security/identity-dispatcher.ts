/** The requests by which this process asks a cloud who it is. They alone reach the metadata addresses. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { isIP } from 'node:net'
import type { Dispatcher } from 'undici'
import type { Guard } from './dial.ts'
import { guardedAgent, parseRanges } from './dial.ts'

/**
 * Where clouds tell a machine or a pod who it is: Amazon, Google, Microsoft; Amazon's containers and pods. Whoever may
 * ask there acts with the rights of this machine.
 */
const metadataAddresses = parseRanges(
  '169.254.169.254,169.254.170.2,169.254.170.23,fd00:ec2::254,fd00:ec2::23,fd20:ce::254',
)
const metadataName = 'metadata.google.internal'

const isMetadata = (address: string): boolean =>
  isIP(address) !== 0 && metadataAddresses.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

function identityGuard(guard: Guard<'operator'>): Guard<'operator'> {
  const { proxies } = guard
  return {
    ...guard,
    may: (address) => isMetadata(address.address) || guard.may(address),
    proxies: {
      ...proxies,
      // A proxy would be asked who it is itself.
      proxyOf: (target) =>
        isMetadata(target.host) || target.host.replace(/\.$/, '') === metadataName
          ? undefined
          : proxies.proxyOf(target),
    },
  }
}

const asking = new AsyncLocalStorage<true>()

/** A `fetch` for the requests by which this process asks a cloud who it is, and for no others. */
export const identityFetch: typeof fetch = (input, init) =>
  asking.run(true, () => fetch(input, init))

/** The dispatcher of all requests: those of `identityFetch` by the operator's guard and to metadata addresses too. */
export function identityDispatcher(operator: Guard<'operator'>, others: Dispatcher): Dispatcher {
  let agent: Dispatcher | undefined
  return others.compose((dispatch) => (options, handler) => {
    if (!asking.getStore()) return dispatch(options, handler)
    agent ??= guardedAgent(identityGuard(operator))
    return agent.dispatch(options, handler)
  })
}
