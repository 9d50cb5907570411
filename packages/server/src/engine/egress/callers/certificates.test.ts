import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { certificatesIn, writeCertificates, removeLeftCertificates } from './certificates.ts'

describe('certificates', () => {
  it('certificates of killed processes are removed; those of living processes and of other machines stay', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'steward-certificates-'))
    const own = await writeCertificates(folder, 'a certificate')
    const { pid: dead } = spawnSync('true')
    const [mine, left, foreign] = [process.pid, dead, dead]
    await writeFile(join(folder, `${hostname()}-${left}.crt`), '')
    await writeFile(join(folder, `elsewhere-${foreign}.crt`), '')
    await writeFile(join(folder, `${hostname()}-${process.ppid}.crt`), '')
    await removeLeftCertificates(folder)
    assert.ok(own.endsWith(`${hostname()}-${mine}.crt`))
    assert.deepEqual(
      (await readdir(folder)).toSorted(),
      [
        `elsewhere-${foreign}.crt`,
        `${hostname()}-${mine}.crt`,
        `${hostname()}-${process.ppid}.crt`,
      ].toSorted(),
    )
    await rm(folder, { recursive: true })
  })

  it('certificates that could not be written are written at the next call', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'steward-certificates-'))
    const folder = join(parent, 'egress')
    await writeFile(folder, 'in the way')
    const certificates = certificatesIn(folder, () => 'a certificate')
    await assert.rejects(certificates.write(), { code: 'EEXIST' })
    await certificates.remove()
    await rm(folder)
    assert.equal(await readFile(await certificates.write(), 'utf8'), 'a certificate')
    await certificates.remove()
    assert.deepEqual(await readdir(folder), [])
    await rm(parent, { recursive: true })
  })
})
