import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { Server } from 'node:https'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { promisify } from 'node:util'
import { readAuthorities, trustAuthorities } from './authorities.ts'
import { guardedAgent, operatorGuard, parseRanges } from './dial.ts'
import { sendRequest } from './undici.ts'

const run = promisify(execFile)

describe("an operator's own authority", () => {
  const usual = getCACertificates('default')
  let server: Server
  let folder = ''
  let certificate = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-authority-'))
    certificate = join(folder, 'certificate')
    await run('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
      ...['-keyout', join(folder, 'key'), '-out', certificate, '-days', '2'],
      ...['-subj', '/CN=own', '-addext', 'subjectAltName=DNS:localhost'],
    ])
  })
  after(async () => {
    server.close()
    setDefaultCACertificates(usual)
    await rm(folder, { recursive: true })
  })

  it('is trusted by connections that open later, besides the public ones', async () => {
    const [key, cert] = [await readFile(join(folder, 'key')), await readFile(certificate)]
    server = createServer({ key, cert }, (_, response) => response.end())
    await once(server.listen(0, 'localhost'), 'listening')
    const { port } = server.address() as AddressInfo
    const ask = async () => {
      const dispatcher = guardedAgent(operatorGuard(parseRanges('127.0.0.0/8,::1')))
      const answer = await sendRequest(`https://localhost:${port}/`, { dispatcher })
      await answer.body.dump()
      await dispatcher.close()
      return answer.statusCode
    }
    await assert.rejects(ask(), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    const authorities = readAuthorities(certificate)
    trustAuthorities(authorities)
    assert.equal(await ask(), 200)
    const known = getCACertificates('default')
    assert.ok(known.length > 100)
    trustAuthorities(authorities)
    assert.deepEqual(getCACertificates('default'), known)
  })

  it('is refused where its file holds no certificate', async () => {
    const wrong = join(folder, 'wrong')
    await writeFile(wrong, await readFile(join(folder, 'key')))
    assert.throws(() => readAuthorities(wrong), /wrong holds no certificate in PEM$/)
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
    await writeFile(wrong, broken)
    assert.throws(() => readAuthorities(wrong), /wrong holds a certificate that cannot be read$/)
    assert.throws(() => readAuthorities(join(folder, 'none')), /none cannot be read \(ENOENT\)/)
  })
})
