/**
 * The client side of git's smart protocol, in the service itself: no git process reaches the network or sees a token.
 * Every dial is guarded, and no redirect leads to another place. gitprotocol-http(5)
 */
import { createMask } from '@steward/mask/mask.ts'
import { limitBytes } from '@steward/base/byte-limit.ts'
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { OutboundAnswer, HeaderPairs } from '@steward/gate/outbound.ts'
import { RequestRefused } from '@steward/gate/outbound.ts'
import type { Upstream } from '../egress/inject/upstream.ts'
import { headerValue } from '../egress/inject/headers.ts'
import { toBasicCredentials, maskedPartsOf } from '../egress/policy/repository.ts'
import { RepositoryFailure } from './failure.ts'
import { flushPacket, encodePacket, decodePackets } from './packets.ts'
import type { Refs } from './refs.ts'
import { readRefs } from './refs.ts'

const lookMs = 30_000
const largestAdvertisement = 64 * 1024 * 1024
const agent = 'git/2.40 (steward)'
/** Capabilities to use where the server has them. */
const wanted = ['multi_ack_detailed', 'side-band-64k', 'thin-pack', 'ofs-delta', 'no-progress']

/** SECRET: never logged. URL of a repository and its token. */
export type RepositoryAddress = { url: string; token: string | undefined }

/** The refs of a repository as this token sees them now. */
export type RemoteState = Refs & { address: RepositoryAddress }

export type Pack = { wants: readonly string[]; haves: readonly string[] }

export interface Remote {
  /** Reads the refs. Throws `RepositoryFailure`, also when the token does not open the repository. */
  look(address: RepositoryAddress, signal: AbortSignal): Promise<RemoteState>
  /**
   * Writes a pack of the wanted objects that are not there to a new file. Returns false when there are none. Throws
   * `RepositoryFailure`.
   */
  fetch(looked: RemoteState, pack: Pack, to: string, signal: AbortSignal): Promise<boolean>
  close(): Promise<void>
}

/** `mostBytes`: largest size of one pack. */
export function createRemote(line: Upstream, mostBytes: number): Remote {
  async function send(
    { url, token }: RepositoryAddress,
    path: string,
    { body, signal, headers = [] }: { body?: Buffer; signal: AbortSignal; headers?: HeaderPairs },
  ): Promise<OutboundAnswer> {
    const own: HeaderPairs = [['User-Agent', agent], ...headers]
    if (token !== undefined) own.push(['Authorization', toBasicCredentials(token)])
    try {
      const method = body ? 'POST' : 'GET'
      const request = { method, url: new URL(url + path), headers: own, body: body ?? null, signal }
      // A server's message may repeat the token, which is masked.
      return await line.send(request, createMask(token === undefined ? [] : maskedPartsOf(token)))
    } catch (error) {
      throw unreached(error, new URL(url).host)
    }
  }

  async function look(address: RepositoryAddress, until: AbortSignal): Promise<RemoteState> {
    const signal = AbortSignal.any([until, AbortSignal.timeout(lookMs)])
    const path = '/info/refs?service=git-upload-pack'
    const answer = await send(address, path, { signal })
    const moved = movedTo(address, answer)
    if (moved !== undefined) {
      answer.body.destroy()
      return lookAt(
        { ...address, url: moved },
        await send({ ...address, url: moved }, path, { signal }),
      )
    }
    return lookAt(address, answer)
  }

  return {
    look,
    async fetch(looked, pack, to, signal) {
      const { address, capabilities } = looked
      const body = Buffer.from(
        asking(
          pack,
          wanted.filter((word) => capabilities.has(word)),
        ),
      )
      const type = 'application/x-git-upload-pack'
      const headers: HeaderPairs = [
        ['Content-Type', `${type}-request`],
        ['Accept', `${type}-result`],
        ['Content-Length', String(body.length)],
      ]
      const answer = await send(address, '/git-upload-pack', { body, signal, headers })
      check(answer, address, `${type}-result`)
      const counted = { bytes: 0 }
      try {
        await pipeline(
          packOf(answer.body, counted, mostBytes),
          createWriteStream(to, { flags: 'wx' }),
        )
      } catch (error) {
        throw broken(error)
      }
      return counted.bytes > emptyPackBytes
    },
    close: () => line.close(),
  }
}

/** An empty pack: a header, a count of zero and a checksum. gitformat-pack(5) */
const emptyPackBytes = 32

async function lookAt(address: RepositoryAddress, answer: OutboundAnswer): Promise<RemoteState> {
  check(answer, address, 'application/x-git-upload-pack-advertisement')
  try {
    return {
      ...(await readRefs(limitBytes(answer.body, largestAdvertisement, tooManyBranches))),
      address,
    }
  } catch (error) {
    throw broken(error)
  }
}

/** The whole negotiation in one request, so that one answer brings the pack. */
const asking = ({ wants, haves }: Pack, capabilities: readonly string[]): string =>
  [
    ...wants.map((id, i) =>
      encodePacket(`want ${id}${i === 0 ? ` ${capabilities.join(' ')}` : ''}\n`),
    ),
    flushPacket,
    ...haves.map((id) => encodePacket(`have ${id}\n`)),
    encodePacket('done\n'),
  ].join('')

/** Extracts the pack from the answer, which also holds acknowledgements, progress, and possibly an error. */
async function* packOf(
  body: AsyncIterable<Buffer>,
  counted: { bytes: number },
  most: number,
): AsyncGenerator<Buffer, void, void> {
  for await (const bytes of decodePackets(body)) {
    if (bytes === null) continue
    const [band] = bytes
    if (band === 3) throw new Error(bytes.toString('utf8', 1).trim())
    if (band === 1) {
      counted.bytes += bytes.length - 1
      if (counted.bytes > most)
        throw new RepositoryFailure('clone', `it is larger than the ${most} bytes that are fetched`)
      yield bytes.subarray(1)
    } else if (bytes.toString('latin1', 0, 4) === 'ERR ') {
      throw new Error(bytes.toString('utf8', 4).trim())
    }
  }
}

const tooManyBranches = () => new Error('the list of its branches is too large')

/** The redirect that adds or removes `.git`; no other redirect is followed. */
function movedTo(
  { url }: RepositoryAddress,
  { status, headers }: OutboundAnswer,
): string | undefined {
  const location = headerValue(headers, 'location')
  if (status < 301 || status > 308 || location === undefined) return undefined
  const own = new URL(url)
  const to = URL.parse(location, url)
  const other = url.endsWith('.git') ? own.pathname.slice(0, -4) : `${own.pathname}.git`
  if (to?.origin === own.origin && to.pathname === `${other}/info/refs`) return own.origin + other
  throw new RepositoryFailure(
    'clone',
    `its server redirects to ${to ? to.origin + to.pathname : 'another place'}; name the repository by its own URL`,
  )
}

/** Throws, with the body closed, unless the answer is the expected one. */
function check(
  { status, headers, body }: OutboundAnswer,
  { token }: RepositoryAddress,
  type: string,
): void {
  const objection = objectionTo(status, token !== undefined)
  if (!objection && headerValue(headers, 'content-type')?.split(';')[0]?.trim() === type) return
  body.destroy()
  throw (
    objection ??
    new RepositoryFailure('clone', 'what answers there does not speak the smart git protocol')
  )
}

function objectionTo(status: number, hasToken: boolean): RepositoryFailure | undefined {
  if (status === 200) return undefined
  if (status === 401)
    return new RepositoryFailure(
      'authentication',
      hasToken
        ? 'its server does not take the authorization_token'
        : 'its server wants an authorization_token, or there is no such repository',
    )
  if (status === 403)
    return new RepositoryFailure('forbidden', 'its server refuses access to the repository')
  if (status === 404 || status === 410)
    return new RepositoryFailure(
      'not_found',
      'its server knows no such repository, or none that the authorization_token opens',
    )
  return new RepositoryFailure('clone', `its server answered with status ${status}`)
}

function unreached(error: unknown, host: string): RepositoryFailure {
  const why = error instanceof RequestRefused ? error.refusal.message : causeOf(error)
  return new RepositoryFailure('clone', `${host} could not be reached: ${why}`, { cause: error })
}

const broken = (error: unknown): RepositoryFailure =>
  error instanceof RepositoryFailure
    ? error
    : new RepositoryFailure('clone', `its server broke off: ${causeOf(error)}`, { cause: error })

/** Largest length of a server's message, which is shown to the agent and stored. */
const longestCause = 300

const causeOf = (error: unknown): string =>
  error instanceof Error && error.name === 'TimeoutError'
    ? 'it took too long'
    : (error instanceof Error ? error.message : String(error)).slice(0, longestCause).toWellFormed()
