/** Requests a summary within the conversation: the main request, identical to the byte, with one instruction added. */
import type { SummaryStrategy } from './strategy.ts'

const instruction =
  'Your context is almost full. Everything above is about to be replaced by a summary that you write now. Write down ' +
  'all that you need to go on as if you still had it: what the user wants and has said about how, what was decided ' +
  'and why, what was done and found, exact names, paths, numbers and errors that still matter, and what comes next. ' +
  'Call no tool, and answer with the summary alone.'

/**
 * The provider reads the conversation from its cache. `tool_choice` stays unset, because setting it would miss the
 * cache.
 */
export const summarize: SummaryStrategy = ({
  system,
  tools,
  messages,
  cacheKey,
  prompt,
  summaryTokens,
}) => ({
  system,
  tools,
  messages: [
    ...messages,
    { role: 'user', content: [{ type: 'text', text: prompt ?? instruction }] },
  ],
  cacheKey,
  maxTokens: summaryTokens,
})
