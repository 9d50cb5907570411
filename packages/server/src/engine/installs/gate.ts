/**
 * The gate of a build: it lets connections to package registries out. It knows no session's rules and no credential.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { Readable } from 'node:stream'
import { getCACertificates } from 'node:tls'
import { certificateAuthority } from '@steward/gate/authority.ts'
import { openGate } from '@steward/gate/gate.ts'
import type { OutboundAnswer, GateOwner, GateTarget } from '@steward/gate/outbound.ts'
import { RequestRefused } from '@steward/gate/outbound.ts'
import type { Connector, Dial } from '../../ground/core/security/dial.ts'
import { failureAnswer } from '@steward/gate/gate-answers.ts'
import { createUpstream } from '../egress/inject/upstream.ts'
import { toGateTarget } from '../egress/policy/rules.ts'

/** The operator's own registries, or the public ones. */
export type RegistryAccess = { connect: Connector<'operator'>; dial: Dial<'operator', Duplex> }

/** `hosts`: `host:port` of the registries. `refused` is called with a sentence for each refusal. */
export async function registryGate(
  { connect, dial }: RegistryAccess,
  folder: string,
  { hosts, refused }: { hosts: readonly string[]; refused: (line: string) => void },
) {
  const allowed = new Set(hosts)
  const towards = createUpstream(connect)
  const may = ({ host, port }: GateTarget) => allowed.has(`${host}:${port}`)
  const objection = ({ host, port }: GateTarget) =>
    `${host}:${port} is no registry of the packages that are installed, and nothing else is reached while they are`
  /** Plain text: npm shows of an error in JSON only that it is an object. */
  const failed = (target: GateTarget, error: unknown): OutboundAnswer => {
    const { status, message } = failureAnswer(target, error)
    refused(message)
    const headers: OutboundAnswer['headers'] = [['content-type', 'text/plain; charset=utf-8']]
    return { status, headers, body: Readable.from([message], { objectMode: false }) }
  }
  const owner: GateOwner = {
    judge: async (target) =>
      may(target)
        ? { kind: 'tunnel' }
        : { kind: 'refuse', reason: 'not_allowed', message: objection(target) },
    async forward(request) {
      const target = toGateTarget(request.url)
      if (may(target)) return towards.send(request).catch((error: unknown) => failed(target, error))
      throw new RequestRefused({ ...target, reason: 'not_allowed', message: objection(target) })
    },
    upgrade({ url }) {
      const message = 'registries do not switch protocols'
      return Promise.reject(
        new RequestRefused({ ...toGateTarget(url), reason: 'protocol', message }),
      )
    },
    dial: (target) =>
      dial(target).catch((error: unknown) => {
        refused(failureAnswer(target, error).message)
        throw error
      }),
    refused: ({ message }) => refused(message),
    tunnelled() {},
  }
  const [socket, certificates] = [join(folder, 'gate'), join(folder, 'trusted.crt')]
  const trusted = new Set([...getCACertificates('default'), ...getCACertificates('system')])
  await writeFile(certificates, [...trusted].join('\n'), { mode: 0o644 })
  const gate = await openGate({ path: socket, authority: certificateAuthority(), owner })
  return {
    socket,
    certificates,
    async close(): Promise<void> {
      await gate.close()
      await towards.close()
    },
  }
}
