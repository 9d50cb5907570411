/**
 * The tool with which an agent asks another model for advice. The session asks it in a thread that ends with the
 * answer.
 */
import { z } from 'zod'
import type { Tool } from './tool.ts'
import { textResult } from './tool.ts'
import { objectSchema, textSchema, threadTool } from './threads.ts'

/** The advice as the model reads it, or the reason why there is none. */
export type Advice = { refused: string } | { words: string }

/**
 * Asks the advisor. `call`: the id of the call's event. A repeated call waits for the advisor of the first call.
 * Resolves soon after the signal aborts.
 */
export type ConsultAdvisor = (
  question: string,
  call: string,
  signal: AbortSignal,
) => Promise<Advice>

const Question = z.object({ question: z.string().min(1) })

const questionOnly = objectSchema(
  {
    question: textSchema(
      'The question, and all that the advisor needs to know: it sees nothing of your conversation and none of your files.',
    ),
  },
  ['question'],
)

export const advisorTool = (consult: ConsultAdvisor): Tool => ({
  ...threadTool(
    'consult_advisor',
    questionOnly,
    'Asks your advisor, another model, and waits for its advice. The advisor has no tools and remembers no earlier question. Ask before a decision that is hard to undo, and where you have tried without success. The advice binds you to nothing.',
    async (input, { signal, call }) => {
      if (call === undefined) throw new Error('consult_advisor was called outside a turn')
      const advice = await consult(Question.parse(input).question, call, signal)
      if ('words' in advice) return textResult(advice.words)
      const why = signal.aborted ? 'interrupted while it waited for the advisor' : advice.refused
      return textResult(why, true)
    },
  ),
  asks: 'advisor',
})

/** The instructions of an advisor. */
export const advisorPrompt =
  'You advise an agent that works for a user. The agent asks you one question; you see nothing but the question, and you have no tools. Answer with your advice: what to do, why, and what you are unsure of. If the question lacks something that you need, say what, and advise as far as you can.'
