import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { createMemo } from '@steward/base/memo.ts'
import { systemClock } from '@steward/base/time.ts'
import type { Seal, Sealed } from './seal.ts'
import { keyIdOf, createSeal, withMemo } from './seal.ts'

const context = 'wrkspc_a/model_cards/card_1/key'
const ours = createSeal('the first root secret')
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

describe('a seal', () => {
  it('opens what it sealed, in the context it was sealed for', () => {
    for (const secret of ['sk-1', '', 'ü'.repeat(3000)]) {
      assert.equal(ours.open(ours.seal(secret, context), context), secret)
    }
  })

  it('shows nothing of the secret, and seals the same secret differently each time', () => {
    const [one, two] = [ours.seal('sk-visible', context), ours.seal('sk-visible', context)]
    assert.notEqual(one, two)
    assert.ok(!one.includes('visible'))
    assert.ok(one.startsWith(`v1.${ours.keyId}.`))
  })

  it('does not open a value that was moved to another tenant, table, row or column', () => {
    const sealed = ours.seal('sk-1', context)
    for (const other of [
      'wrkspc_b/model_cards/card_1/key',
      'wrkspc_a/model_cards/card_2/key',
      '',
    ]) {
      assert.throws(() => ours.open(sealed, other))
    }
  })

  it('says under which root key a value was sealed when it holds another', () => {
    const other = createSeal('the second root secret')
    const sealed = other.seal('sk-1', context)
    assert.throws(() => ours.open(sealed, context), new RegExp(`${other.keyId}.*${ours.keyId}`))
  })

  it('opens under each secret that it holds, and seals under the first alone', () => {
    const [first, second] = ['the first root secret', 'the second root secret']
    const both = createSeal(second, [first])
    const old = ours.seal('sk-1', context)
    assert.equal(both.open(old, context), 'sk-1')
    assert.equal(keyIdOf(both.seal('sk-1', context)), createSeal(second).keyId)
    assert.deepEqual(both.keyIds, [createSeal(second).keyId, ours.keyId])
    const wrong = old.replace(ours.keyId, both.keyId) as Sealed
    assert.throws(() => both.open(wrong, context))
  })

  it('has one key id for one root secret', () => {
    assert.equal(createSeal('the first root secret').keyId, ours.keyId)
    assert.notEqual(createSeal('the second root secret').keyId, ours.keyId)
    assert.match(ours.keyId, /^[0-9a-f]{12}$/)
  })

  it('does not open a value that was changed or shortened anywhere', () => {
    const sealed = ours.seal('a secret of some length', context)
    const [version, id, nonce = '', body = ''] = sealed.split('.')
    const bytes = Buffer.from(body, 'base64url')
    const flip = (some: Buffer) => Buffer.from(some.map((byte, at) => (at === 3 ? byte ^ 1 : byte)))
    const wrong = [
      [version, id, nonce, flip(bytes).toString('base64url')],
      [version, id, flip(Buffer.from(nonce, 'base64url')).toString('base64url'), body],
      [version, id, nonce, bytes.subarray(1).toString('base64url')],
      // A tag of four bytes would be guessed in minutes.
      ...[4, 8, 12, 15].map((n) => [version, id, nonce, bytes.subarray(-n).toString('base64url')]),
      [version, id, `A${nonce.slice(1)}A`, body],
      ['v2', id, nonce, body],
      [version, id, nonce, ''],
      ['nothing'],
    ]
    for (const parts of wrong) assert.throws(() => ours.open(parts.join('.') as Sealed, context))
  })

  it('refuses every text but the one it wrote, even where that decodes to the same bytes', () => {
    // 12 bytes of nonce fill 16 characters; 17 bytes of ciphertext and tag leave two stray bits in the last of 23.
    const sealed = ours.seal('s', context)
    const [version, id, nonce = '', body = ''] = sealed.split('.')
    const last = alphabet.indexOf(body.at(-1) ?? '')
    assert.equal(last % 4, 0)
    const strayBits = body.slice(0, -1) + alphabet[last + 1]
    const same = [
      [version, id, nonce, strayBits],
      [version, id, nonce, `${body}=`],
      [version, id, `${nonce}A`, body],
      [version, id, `${nonce} `, body],
      [version, id, nonce, `${body}\n`],
      [version, id, nonce, body, ''],
    ]
    for (const [, , someNonce = '', someBody = ''] of same) {
      assert.deepEqual(Buffer.from(someNonce, 'base64url'), Buffer.from(nonce, 'base64url'))
      assert.deepEqual(Buffer.from(someBody, 'base64url'), Buffer.from(body, 'base64url'))
    }
    for (const parts of same)
      assert.throws(() => ours.open(parts.join('.') as Sealed, context), /not a sealed value/)
    assert.equal(ours.open(sealed, context), 's')
  })

  it('refuses a short tag even where it is the true beginning of the right one', () => {
    const sealed = ours.seal('', context)
    const [version, id, nonce, body = ''] = sealed.split('.')
    const tag = Buffer.from(body, 'base64url')
    assert.equal(tag.length, 16)
    const short = [version, id, nonce, tag.subarray(0, 4).toString('base64url')].join('.')
    assert.throws(() => ours.open(short as Sealed, context))
  })
})

describe('a seal with a memo', () => {
  const opened: string[] = []
  const counting: Seal = {
    ...ours,
    open(sealed, at) {
      opened.push(at)
      return ours.open(sealed, at)
    },
  }
  const memo = createMemo<string>({ clock: systemClock, keepMs: 60_000, mostCharacters: 10_000 })
  const seal = withMemo(counting, memo)
  after(() => memo.close())

  it('opens a value once', () => {
    const sealed = seal.seal('sk-1', context)
    opened.length = 0
    assert.deepEqual([seal.open(sealed, context), seal.open(sealed, context)], ['sk-1', 'sk-1'])
    assert.deepEqual(opened, [context])
  })

  it('opens a value that was sealed again', () => {
    const values = [seal.seal('sk-1', context), seal.seal('sk-2', context)]
    assert.deepEqual(
      values.map((sealed) => seal.open(sealed, context)),
      ['sk-1', 'sk-2'],
    )
  })

  it('does not open a value that was moved, though it has opened it where it was', () => {
    const sealed = seal.seal('sk-1', 'a b')
    seal.open(sealed, 'a b')
    assert.throws(() => seal.open(sealed, 'b'))
    assert.throws(() => seal.open(`${sealed} a` as Sealed, 'b'))
  })
})
