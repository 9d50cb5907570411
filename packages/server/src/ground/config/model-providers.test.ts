import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseModelProviders } from './model-providers.ts'

const parse = (value: object) => parseModelProviders(JSON.stringify(value))
const bedrock = { type: 'bedrock', region: 'eu-central-1' }

void describe('the clouds of the operator', () => {
  void it('are read in their order, as the machine where they name no credentials', () => {
    const [first, second] = parse({
      eu: bedrock,
      key: { type: 'foundry', resource: 'acme', api_key: 'k', models: ['gpt-*'] },
    })
    assert.deepEqual(first, {
      name: 'eu',
      models: ['claude-*'],
      cloud: bedrock,
      credentials: { type: 'machine' },
      apiKey: 'none',
    })
    assert.ok(second && 'cloud' in second)
    assert.deepEqual([second.name, second.apiKey, second.credentials], ['key', 'k', undefined])
  })

  void it('are refused by the field that is wrong, without a value', () => {
    const secret = 'a-secret-value'
    const keys = { type: 'aws_keys', access_key_id: 'AKIA', secret_access_key: secret }
    const cases: [object, RegExp][] = [
      [{ eu: { type: 'bedrock' } }, /^eu\.region/],
      [{ eu: { ...bedrock, region: 'evil.example/' } }, /^eu\.region: must be a region/],
      [{ 'Not A Name': bedrock }, /takes a-z/],
      [{ v: { type: 'vertex', region: 'global' } }, /^v\.project/],
      [{ v: { type: 'vertex', region: 'global', project: 'p', api_key: secret } }, /api_key/],
      [{ f: { type: 'foundry' } }, /^f\.resource: is required, or base_url/],
      [{ f: { type: 'foundry', resource: 'x.evil.example' } }, /^f\.resource/],
      [{ eu: { ...bedrock, api_key: secret, credentials: keys } }, /^eu\.api_key: goes not with/],
      [{ eu: { ...bedrock, credentials: { ...keys, role_arn: secret } } }, /eu\.credentials/],
      [{ eu: { type: 'nimbus', api_key: secret } }, /must be bedrock, vertex, foundry or gateway/],
      [{ g: { type: 'gateway' } }, /^g\.base_url/],
    ]
    for (const [value, reason] of cases)
      assert.throws(
        () => parse(value),
        ({ message }: Error) => {
          assert.match(message, reason)
          assert.ok(!message.includes(secret), message)
          return true
        },
      )
  })
})
