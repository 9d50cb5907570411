import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { signAws } from './sign-aws.ts'
import { verifySignature } from './stubs/sigv4.ts'

const keys = { accessKeyId: 'AKIA', secretAccessKey: 'secret', expiresMs: null }
const url =
  'https://bedrock-runtime.eu-central-1.amazonaws.com/model/eu.anthropic.claude-v1%3A0/invoke?a=b%20c&a=%2B'

async function verified({ body = '{"a":1}', path = '', session = '' }) {
  const own = session === '' ? keys : { ...keys, sessionToken: session }
  const at = { region: 'eu-central-1', service: 'bedrock' }
  const headers = { 'content-type': 'application/json' }
  const signed = await signAws({ url, headers, body: '{"a":1}' }, own, at)
  const { host, pathname, search } = new URL(url)
  const known = { secret: 'secret', ...(session !== '' && { sessionToken: session }) }
  return verifySignature(
    {
      method: 'POST',
      host,
      path: path || pathname + search,
      headers: Object.fromEntries(signed),
      body: Buffer.from(body),
    },
    (id) => (id === 'AKIA' ? known : undefined),
  )
}

void describe('a signature for Amazon', () => {
  void it('is the one that Amazon computes, of the address, the headers and the body', async () => {
    const valid = { ok: true, region: 'eu-central-1', service: 'bedrock' }
    assert.deepEqual(await verified({}), valid)
    assert.deepEqual(await verified({ session: 'of the session' }), valid)
  })

  void it('holds for no other body and no other address', async () => {
    assert.equal((await verified({ body: '{"a":2}' })).ok, false)
    assert.equal((await verified({ path: '/model/other/invoke' })).ok, false)
  })
})
