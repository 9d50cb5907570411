/**
 * A network in which every address is this machine, the kernel records who is dialled, and every name has an address.
 * It needs a network namespace and a mount namespace of its own.
 */
import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'

export type Dialled = { name: string; port: number; protocol: string }

const resolver = '10.77.0.53'
/** The address of the server under test, which the test itself dials. */
export const serverHost = '127.0.0.9'

/** Records the first packet of each connection, before anything could refuse it. */
const rules = `
table inet record {
  set four { type inet_proto . ipv4_addr . inet_service; flags dynamic; size 65535; }
  set six { type inet_proto . ipv6_addr . inet_service; flags dynamic; size 65535; }
  chain out {
    type filter hook output priority 0; policy accept;
    ip daddr ${serverHost} return
    ip saddr ${resolver} udp sport 53 return
    tcp flags & (syn | ack) == syn add @four { meta l4proto . ip daddr . tcp dport }
    meta l4proto udp add @four { meta l4proto . ip daddr . udp dport }
    tcp flags & (syn | ack) == syn add @six { meta l4proto . ip6 daddr . tcp dport }
    meta l4proto udp add @six { meta l4proto . ip6 daddr . udp dport }
  }
}`

const Sets = z.object({
  nftables: z.array(
    z.object({
      set: z
        .object({
          elem: z
            .array(z.object({ concat: z.tuple([z.string(), z.string(), z.number()]) }))
            .default([]),
        })
        .optional(),
    }),
  ),
})

function prepareNetwork(): void {
  const ip = (...args: string[]) => execFileSync('ip', args)
  ip('link', 'set', 'lo', 'up')
  ip('route', 'add', 'local', '0.0.0.0/0', 'dev', 'lo')
  ip('-6', 'route', 'add', 'local', '::/0', 'dev', 'lo')
  execFileSync('nft', ['-f', '-'], { input: rules })
  const resolv = join(mkdtempSync(join(tmpdir(), 'steward-resolv-')), 'resolv.conf')
  writeFileSync(resolv, `nameserver ${resolver}\n`)
  execFileSync('mount', ['--bind', resolv, '/etc/resolv.conf'])
}

const headBytes = 12

/** The name in a question, and the bytes of the question. */
function questionIn(query: Buffer): { name: string; question: Buffer; type: number } {
  const labels: string[] = []
  let at = headBytes
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return {
    name: labels.join('.').toLowerCase(),
    question: query.subarray(headBytes, at + 5),
    type: query.readUInt16BE(at + 1),
  }
}

/** Gives every name an address of its own, in the order of the questions. */
async function serveNames(): Promise<ReadonlyMap<string, string>> {
  const addresses = new Map<string, string>()
  const names = new Map<string, string>()
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, question, type } = questionIn(query)
    const n = addresses.size + 1
    const address = addresses.get(name) ?? `10.77.${1 + (n >> 8)}.${n & 255}`
    addresses.set(name, address)
    names.set(address, name)
    const isAnswered = type === 1
    const head = Buffer.alloc(headBytes)
    query.copy(head, 0, 0, 2)
    head.writeUInt16BE(0x81_80, 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(isAnswered ? 1 : 0, 6)
    const record = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4])
    const answer = isAnswered ? [record, Buffer.from(address.split('.').map(Number))] : []
    socket.send(Buffer.concat([head, question, ...answer]), from.port, from.address)
  })
  socket.bind(53, resolver)
  await once(socket, 'listening')
  return names
}

export async function recordConnections(): Promise<{ dialled(): Dialled[] }> {
  prepareNetwork()
  const names = await serveNames()
  return {
    dialled() {
      const listed = execFileSync('nft', ['-j', 'list', 'table', 'inet', 'record'])
      return Sets.parse(JSON.parse(listed.toString()))
        .nftables.flatMap(({ set }) => set?.elem ?? [])
        .map(({ concat: [protocol, address, port] }) => ({
          name: address === resolver ? 'the name server' : (names.get(address) ?? address),
          port,
          protocol,
        }))
    },
  }
}
