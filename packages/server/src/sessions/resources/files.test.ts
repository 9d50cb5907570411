import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { describeFiles } from './files.ts'
import { fileRow } from './fixture.ts'

const at = '2026-01-01T00:00:00.000Z'
const row = (n: number, created_at = at) => {
  const path = `/workspace/${n}`
  const columns = { id: `sesrsc_${n}`, mount_path: path, resolved_path: path, created_at }
  return fileRow(columns, { file_id: `file_${n}` })
}
const file = (n: number) => ({
  ...{ tenant_id: 't', id: `file_${n}`, session_id: 's', origin: 'copy' as const },
  ...{ filename: `${n}.csv`, mime_type: 'text/csv', size_bytes: 1, sha256: '', blob_key: 'k' },
  ...{ downloadable: 1, expires_at: null, created_at: at },
})

describe('the description of files for an agent', () => {
  // verifies: resources/file/told
  it('names those that the session began with, and stays the same when others come', () => {
    const told = describeFiles({ created_at: at }, [row(1)], [file(1)])
    assert.match(told, /From the beginning there are:\n- \/workspace\/1: 1\.csv$/)
    const later = row(2, '2026-01-01T00:00:01.000Z')
    assert.equal(describeFiles({ created_at: at }, [row(1), later], [file(1), file(2)]), told)
    assert.doesNotMatch(describeFiles({ created_at: at }, [later], [file(2)]), /beginning/)
  })

  it('says where a file is and which path was asked for', () => {
    const asked = { ...row(1), mount_path: 'a.csv', resolved_path: '/mnt/session/uploads/a.csv' }
    const told = describeFiles({ created_at: at }, [asked], [file(1)])
    assert.match(told, /\n- \/mnt\/session\/uploads\/a\.csv: 1\.csv, asked for at a\.csv$/)
  })

  it('names no more than fifty', () => {
    const many = Array.from({ length: 60 }, (_, n) => n)
    const told = describeFiles(
      { created_at: at },
      many.map((n) => row(n)),
      many.map(file),
    )
    assert.match(told, /49\.csv\nand 10 others$/)
  })
})
