import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { learnedName, listedName } from './listed-names.ts'

const list = ['Acme/Shop', 'acme/tools']
const known = { 'acme/shop': '7' }

describe('a name in a list', () => {
  it('is compared without the case of ASCII letters, and of no others', () => {
    assert.equal(listedName(list, undefined, { name: 'acme/SHOP', id: undefined }), 'Acme/Shop')
    for (const name of ['acme/shop ', 'acme/\u212Aey', 'acme/sho', 'acme/\u017Fhop'])
      assert.equal(listedName(list, undefined, { name, id: undefined }), undefined, name)
  })

  it('follows the id of a thing that is renamed, and not the name that another has taken over', () => {
    assert.equal(listedName(list, known, { name: 'acme/store', id: '7' }), 'Acme/Shop')
    assert.equal(listedName(list, known, { name: 'acme/shop', id: '8' }), undefined)
    assert.equal(listedName(list, known, { name: 'acme/shop', id: '7' }), 'Acme/Shop')
    assert.equal(listedName(list, known, { name: '__proto__', id: '9' }), undefined)
  })

  it('has its id learned once', () => {
    const tools = { name: 'ACME/tools', id: '9' }
    assert.deepEqual(learnedName(list, known, tools), { 'acme/tools': '9' })
    assert.equal(learnedName(list, { ...known, 'acme/tools': '9' }, tools), undefined)
    assert.equal(learnedName(list, known, { name: 'acme/other', id: '1' }), undefined)
    assert.equal(learnedName(list, known, { name: 'acme/tools', id: undefined }), undefined)
  })
})
