/** Live words by direct connections between processes: each tells the others its topics and gets their words. */
import { toUrlHost } from '@steward/base/url-host.ts'
import { networkInterfaces } from 'node:os'
import type { Log } from '@steward/base/log.ts'
import type { Channel } from '../bus.ts'
import { isMissed } from '../bus.ts'
import { memoryChannel } from '../memory.ts'
import type { PeerAddress, PeerKeys } from './keys.ts'
import { signAnnouncement, readAnnouncement } from './keys.ts'
import type { PeerLimits } from './limits.ts'
import { usualPeerLimits } from './limits.ts'
import { createPublisher } from './publisher.ts'
import type { PeerReader } from './reader.ts'
import { readPeer } from './reader.ts'

type DirectDeps = {
  /** Carries announcements of processes to each other. */
  notifications: Channel
  owners: { self: string; dead(owners: readonly string[]): Promise<string[]> }
  keys: PeerKeys
  /** The place to listen at. `address`: the host, or host and port, that other processes get instead. */
  setup: { host: string; port: number; address?: string | undefined }
  log: Log
  limits?: PeerLimits
}

const topic = 'processes'

export async function directChannel(deps: DirectDeps): Promise<Channel> {
  const { notifications, owners, keys, setup: address, log, limits = usualPeerLimits } = deps
  const peers = new Map<string, PeerReader>()
  const local = memoryChannel((name, hasSubscriber) => {
    for (const peer of peers.values()) peer.note(name, hasSubscriber)
  })
  let closed = false
  const publisher = await createPublisher({ self: owners.self, keys, address, limits, log, meet })
  const self: PeerAddress = {
    process: owners.self,
    addresses: addressesOf(address, publisher.port),
  }

  function meet(peer: PeerAddress): void {
    const { process } = peer
    if (closed || process === owners.self || peers.has(process)) return
    if (peers.size >= limits.peers) {
      log.warn('there are too many processes: the live text of one is not shown here', { process })
      return
    }
    const reader = readPeer({
      self,
      peer,
      keys,
      limits,
      log,
      local,
      isDead: () => isDead(process),
      announce,
    })
    peers.set(process, reader)
    void reader.ended.then(() => peers.delete(process))
  }

  /** False while the database is away. */
  async function isDead(process: string): Promise<boolean> {
    if (publisher.hasReader(process)) return false
    const dead = await owners.dead([process]).catch((): string[] => [])
    return dead.includes(process)
  }

  const announce = () => notifications.publish(topic, signAnnouncement(self, keys))
  // A process that hears an announcement connects, and is known by that. After lost messages all announce again.
  const quiet = notifications.subscribe(topic, (message) => {
    if (isMissed(message)) return announce()
    const peer = readAnnouncement(message, keys)
    if (peer) meet(peer)
  })
  announce()
  log.info('listening to other processes', { addresses: self.addresses })

  return {
    publish(name, message) {
      local.publish(name, message)
      if (!closed) publisher.publish(name, message)
    },
    subscribe: (name, hear) => local.subscribe(name, hear),
    mayBeHeard: (name) => local.mayBeHeard(name) || publisher.mayBeHeard(name),
    isOpen: () => true,
    async close() {
      closed = true
      quiet()
      for (const peer of peers.values()) peer.close()
      await Promise.all([...peers.values()].map(({ ended }) => ended))
      await publisher.close()
    },
  }
}

const anyAddress = new Set(['0.0.0.0', '::'])
const mostAddresses = 8

/** The addresses to announce. For a listener on every address: the external ones, or the loopback without any. */
function addressesOf({ host, address }: DirectDeps['setup'], port: number): string[] {
  if (address !== undefined) return [/:\d+$/.test(address) ? address : `${address}:${port}`]
  if (!anyAddress.has(host)) return [inUrl(host, port)]
  const refused = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter((each) => !each.internal && !/^(169\.254\.|fe80:)/.test(each.address))
    .filter(({ family }) => host === '::' || family === 'IPv4')
    .map((each) => inUrl(each.address, port))
  return refused.length > 0 ? refused.slice(0, mostAddresses) : [inUrl('127.0.0.1', port)]
}

const inUrl = (host: string, port: number): string => `${toUrlHost(host)}:${port}`
