import type { Model, ModelCall, ModelFailure, Usage } from '@steward/model/model.ts'
import { noUsage } from '@steward/model/model.ts'

/** `failure`: the provider did not answer. Without it, the answer is no usable summary. */
export type SummaryAnswer =
  | { ok: true; text: string; usage: Usage }
  | { ok: false; why: string; failure?: ModelFailure; usage: Usage }

/**
 * Reads an answer to its end. An answer with a tool call is refused, because a summary is a text and no call may run.
 */
export async function askForSummary(model: Model, call: ModelCall): Promise<SummaryAnswer> {
  let text = ''
  let called = ''
  for await (const event of model.stream(call)) {
    if (event.type === 'failed') {
      const { failure, usage } = event
      return { ok: false, why: failure.message, failure, usage }
    }
    if (event.type === 'block_start' && event.block === 'tool_call') called = event.name
    if (event.type === 'block_end' && event.block.type === 'text') text += event.block.text
    if (event.type !== 'end') continue
    const { usage, stop } = event
    const why =
      called !== ''
        ? `the model called ${called} instead of writing a summary`
        : stop === 'refusal'
          ? 'the model refused to write a summary'
          : 'the summary is empty'
    const isWritten = called === '' && stop !== 'refusal' && text.trim() !== ''
    return isWritten ? { ok: true, text: text.trim(), usage } : { ok: false, why, usage }
  }
  return { ok: false, why: 'the model ended its stream without an end', usage: noUsage }
}
