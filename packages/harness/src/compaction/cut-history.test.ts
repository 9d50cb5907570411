import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AssistantBlock, Message } from '@steward/model/model.ts'
import { estimateMessageTokens } from '../tokens.ts'
import { cutHistory } from './cut-history.ts'

const origin = { provider: 'p', api: 'a', model: 'm' }
const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
const assistant = (...content: AssistantBlock[]): Message => ({
  role: 'assistant',
  content,
  origin,
})
const calls = (...ids: string[]): Message =>
  assistant(...ids.map((id) => ({ type: 'tool_call' as const, id, name: 'bash', input: {} })))
const result = (id: string, text = id): Message => ({
  role: 'tool_result',
  tool_call_id: id,
  tool_name: 'bash',
  content: [{ type: 'text', text }],
  is_error: false,
})
const plenty = { from: 0, tokens: 1_000_000, most: 1_000_000 }
const nothing = { from: 0, tokens: 0, most: 1_000_000 }

/** The same numbers in each run. */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * sides)
  }
}

function conversation(roll: (sides: number) => number): Message[] {
  const messages: Message[] = []
  for (let n = 0; n < 30; n++) {
    if (roll(3) === 0) messages.push(user('u'.repeat(roll(2_000) + 1)))
    else {
      const ids = Array.from({ length: roll(4) }, (_, index) => `${n}.${index}`)
      const said: Message = ids.length > 0 ? calls(...ids) : assistant({ type: 'text', text: 'a' })
      messages.push(said, ...ids.map((id) => result(id, 'r'.repeat(roll(4_000) + 1))))
    }
  }
  return messages
}

void describe('a cut', () => {
  void it('never parts a call from its result, loses nothing, and keeps to its size', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const roll = dice(seed)
      const messages = conversation(roll)
      const tokens = roll(6_000)
      const { old, asked, tail } = cutHistory(messages, { from: 0, tokens, most: 1_000_000 })
      assert.deepEqual([...old, ...tail], messages)
      const made = new Set<string>()
      for (const message of tail) {
        if (message.role === 'assistant')
          for (const block of message.content) if (block.type === 'tool_call') made.add(block.id)
        if (message.role === 'tool_result') assert.ok(made.delete(message.tool_call_id))
      }
      assert.equal(made.size, 0)
      const newest = messages.findLast(({ role }) => role === 'user')
      if (newest) assert.ok([...asked, ...tail].includes(newest), 'the newest input is kept')
      const group = cutHistory(messages, nothing).tail
      const size = tail.reduce((sum, message) => sum + estimateMessageTokens(message), 0)
      assert.ok(tail.length === group.length || size <= tokens)
    }
  })

  void it('keeps everything where there is room for it', () => {
    const messages = [user('a'), calls('1'), result('1')]
    assert.deepEqual(cutHistory(messages, plenty), { old: [], asked: [], tail: messages })
  })

  void it('keeps the last message of the user, with the messages around it', () => {
    const system: Message = { role: 'system', content: [{ type: 'text', text: 's' }] }
    const run = [user('first'), user('second'), system]
    const messages = [
      user('a'),
      assistant({ type: 'text', text: 'b' }),
      ...run,
      calls('1'),
      result('1'),
    ]
    const { asked, tail } = cutHistory(messages, nothing)
    assert.deepEqual(asked, run)
    assert.deepEqual(tail, messages.slice(-2))
  })

  void it('keeps of messages one after the other what there is room for, and the newest always', () => {
    const messages = [user('g'.repeat(90_000)), user('small'), user('n'.repeat(9_000))]
    assert.deepEqual(cutHistory(messages, { ...nothing, most: 3_000 }).tail, messages.slice(1))
    assert.deepEqual(cutHistory(messages, { ...nothing, most: 100 }).tail, messages.slice(2))
  })

  void it('takes an earlier summary for nothing that a user said', () => {
    const messages = [user('<summary>'), user('new'), calls('1'), result('1')]
    assert.deepEqual(cutHistory(messages, { ...nothing, from: 1 }).asked, [user('new')])
    assert.deepEqual(cutHistory(messages, { ...plenty, from: 1 }).old, [user('<summary>')])
  })

  void it('shortens results that are too much, and no words of the user', () => {
    const messages = [user('u'.repeat(9_000)), calls('1'), result('1', 'r'.repeat(90_000))]
    const { asked, tail } = cutHistory(messages, { ...nothing, most: 1_000 })
    assert.deepEqual(asked, messages.slice(0, 1))
    const size = tail.reduce((sum, message) => sum + estimateMessageTokens(message), 0)
    assert.ok(size <= 1_000 && size > 500, `${size}`)
  })

  void it('counts the bytes of pictures, which a boundary would keep again and again', () => {
    const picture: Message = {
      role: 'user',
      content: [{ type: 'image', media_type: 'image/png', data: 'x'.repeat(4_000_000) }],
    }
    const answer = assistant({ type: 'text', text: 'seen' })
    const { old } = cutHistory([picture, answer, user('next')], { ...nothing, tokens: 5_000 })
    assert.deepEqual(old, [picture])
  })
})
