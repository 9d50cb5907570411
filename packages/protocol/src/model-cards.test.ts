import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ModelCardCreate, ModelCardUpdate } from './model-cards.ts'
import { parsedBy } from './problems.ts'

const card = { model_id: 'a', provider: 'example', model: 'm', api_key: 'sk-a key' }
const oneLine = 'must be printable ASCII characters of one line'
const aName = 'has a name that must be the name of a header'

describe('the request headers of a model card', () => {
  const cases: [object, string][] = [
    [{ api_key: 'sk-a\n' }, `api_key: ${oneLine}`],
    [{ api_key: 'sk-é' }, `api_key: ${oneLine}`],
    [{ api_key: 'sk-\u0007a' }, `api_key: ${oneLine}`],
    [{ custom_headers: { a: 'b\r\nc: d' } }, `custom_headers.a: ${oneLine}`],
    [{ custom_headers: { a_b: 'né' } }, `custom_headers.a_b: ${oneLine}`],
    [
      { custom_headers: { '': 'a' } },
      `custom_headers.(a name that is not repeated here): ${aName}`,
    ],
    [
      { custom_headers: { 'a b': 'a' } },
      `custom_headers.(a name that is not repeated here): ${aName}`,
    ],
    [
      { custom_headers: { 'Transfer-Encoding': 'chunked' } },
      'custom_headers.Transfer-Encoding: has a name that belongs to the connection: leave it out',
    ],
    [{ native_config: { headers: { a: '\u0000' } } }, `native_config.headers.a: ${oneLine}`],
    [
      { native_config: { headers: { 'a:': 'b' } } },
      `native_config.headers.(a name that is not repeated here): ${aName}`,
    ],
  ]
  for (const [fields, problems] of cases) {
    it(`${JSON.stringify(fields)} is refused`, () => {
      assert.deepEqual(parsedBy(ModelCardCreate, { ...card, ...fields }), { ok: false, problems })
      assert.deepEqual(parsedBy(ModelCardUpdate, fields), { ok: false, problems })
    })
  }

  it('may be empty, and may hold blanks', () => {
    const headers = { 'X-Title': '', "a!#$%&'*+.^_`|~1": ' a b ' }
    const fields = { custom_headers: headers, native_config: { headers } }
    assert.ok(parsedBy(ModelCardCreate, { ...card, ...fields }).ok)
  })
})
