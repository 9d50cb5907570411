/** Replaces a rubric that names a file by its text, so that the outcome outlives the file. */
import type { DefineOutcome } from '@steward/protocol/outcomes.ts'
import { mostRubric } from '@steward/protocol/outcomes.ts'
import type { TextFileSource } from '../../resources/files/text.ts'
import { textOfFile } from '../../resources/files/text.ts'

/** `at` names the list of events in errors. The bytes are read before any transaction. */
export const withRubrics = <E extends { type: string }>(
  given: TextFileSource,
  events: readonly (E | DefineOutcome)[],
  at: string,
): Promise<(E | DefineOutcome)[]> =>
  Promise.all(
    events.map(async (event, index) => {
      if (!isOutcome(event) || event.rubric.type === 'text') return event
      const content = await textOfFile(given, event.rubric.file_id, {
        at: `${at}.${index}.rubric.file_id`,
        what: 'a rubric',
        most: mostRubric,
      })
      return { ...event, rubric: { type: 'text' as const, content } }
    }),
  )

const isOutcome = <E extends { type: string }>(event: E | DefineOutcome): event is DefineOutcome =>
  event.type === 'user.define_outcome'
