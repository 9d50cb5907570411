import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { layCertificates, removeLeftCertificates } from './certificates.ts'

it('certificates of killed processes go, those of living ones and of other machines stay', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'steward-certificates-'))
  const own = await layCertificates(folder, 'a certificate')
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
