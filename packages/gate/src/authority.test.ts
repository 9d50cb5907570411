import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { connect, TLSSocket } from 'node:tls'
import type { Authority } from './authority.ts'
import { certificateAuthority } from './authority.ts'

/** The certificate that a client sees, and the client's verdict. */
async function seen(authority: Authority, host: string) {
  const server = createServer((socket) => {
    const secureContext = authority.contextFor(host)
    new TLSSocket(socket, { isServer: true, secureContext }).on('error', () => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  try {
    return await new Promise<X509Certificate>((resolve, reject) => {
      const client = connect({ host: '127.0.0.1', port, servername: host, ca: authority.pem })
      client.once('error', reject)
      client.once('secureConnect', () => {
        const leaf = client.getPeerX509Certificate()
        client.destroy()
        if (leaf) resolve(leaf)
        else reject(new Error('no certificate'))
      })
    })
  } finally {
    server.close()
  }
}

function opensslVerify(authority: Authority, leaf: X509Certificate, host: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'authority-'))
  try {
    writeFileSync(join(folder, 'ca.pem'), authority.pem)
    writeFileSync(join(folder, 'leaf.pem'), leaf.toString())
    return execFileSync(
      'openssl',
      [
        'verify',
        '-x509_strict',
        '-check_ss_sig',
        '-purpose',
        'sslserver',
        '-verify_hostname',
        host,
      ].concat(['-CAfile', join(folder, 'ca.pem'), join(folder, 'leaf.pem')]),
      { encoding: 'utf8' },
    )
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Error('openssl is missing: apt-get install openssl', { cause: error })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('a certificate authority', () => {
  it('makes certificates that pass the strict check of openssl', async () => {
    const authority = certificateAuthority()
    for (const host of ['api.example.com', 'localhost', 'xn--bcher-kva.example']) {
      assert.match(opensslVerify(authority, await seen(authority, host), host), /: OK\n$/)
    }
  })

  it('serves names too long for a common name', async () => {
    const authority = certificateAuthority()
    const host = `${'a'.repeat(60)}.${'b'.repeat(60)}.example`
    const leaf = await seen(authority, host)
    assert.equal(leaf.subjectAltName, `DNS:${host}`)
    assert.match(opensslVerify(authority, leaf, host), /: OK\n$/)
  })

  it('names the host alone, is valid since yesterday and ends soon', async () => {
    const leaf = await seen(certificateAuthority(), 'a.example')
    assert.equal(leaf.subjectAltName, 'DNS:a.example')
    assert.equal(leaf.ca, false)
    assert.ok(leaf.validFromDate.getTime() <= Date.now() - 86_000_000)
    assert.ok(leaf.validToDate.getTime() < Date.now() + 15 * 86_400_000)
  })

  it('signs with keys of its own, that are another process’s nor another authority’s', async () => {
    const [one, other] = [certificateAuthority(), certificateAuthority()]
    assert.notEqual(one.pem, other.pem)
    const leaf = await seen(one, 'a.example')
    assert.equal(leaf.verify(new X509Certificate(one.pem).publicKey), true)
    assert.equal(leaf.verify(new X509Certificate(other.pem).publicKey), false)
  })

  it('is the same in every process that makes it of the same seed', async () => {
    const seed = Buffer.alloc(32, 9)
    const [one, other] = [certificateAuthority({ seed }), certificateAuthority({ seed })]
    const leaf = await seen(other, 'a.example')
    assert.equal(leaf.verify(new X509Certificate(one.pem).publicKey), true)
    assert.equal(leaf.issuer, new X509Certificate(one.pem).subject)
    const third = certificateAuthority({ seed: Buffer.alloc(32, 0xff) })
    assert.equal(leaf.verify(new X509Certificate(third.pem).publicKey), false)
  })

  it('keeps the contexts in use last, and no more than its bound', () => {
    const authority = certificateAuthority({ contexts: 2 })
    const first = authority.contextFor('a.example')
    const second = authority.contextFor('b.example')
    assert.equal(authority.contextFor('a.example'), first)
    authority.contextFor('c.example')
    assert.equal(authority.contextFor('a.example'), first)
    assert.notEqual(authority.contextFor('b.example'), second)
  })

  it('makes a certificate anew long before it ends', async () => {
    let nowMs = Date.now()
    const authority = certificateAuthority({ now: () => nowMs })
    const first = authority.contextFor('a.example')
    nowMs += 6 * 86_400_000
    assert.equal(authority.contextFor('a.example'), first)
    nowMs += 2 * 86_400_000
    assert.notEqual(authority.contextFor('a.example'), first)
  })

  it('writes dates beyond 2049 with four digits of the year', () => {
    const authority = certificateAuthority({ now: () => Date.UTC(2048, 0, 1) })
    const own = new X509Certificate(authority.pem)
    assert.equal(own.validToDate.getUTCFullYear(), 2057)
  })
})
