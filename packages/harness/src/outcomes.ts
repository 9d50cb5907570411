/**
 * The texts about outcomes that an agent reads. Each text says who reports, so that it reads neither as a person's
 * words nor as the system's.
 */
import type { EventOf } from '@steward/protocol/events.ts'

/** Undefined when the agent is told nothing: the outcome has ended, and no turn follows by itself. */
export function outcomeText(
  event: EventOf<'user.define_outcome'> | EventOf<'span.outcome_evaluation_end'>,
): string | undefined {
  if (event.type === 'user.define_outcome')
    return `<outcome id="${event.outcome_id}">
Work until this outcome is reached. When you end your turn, a grader judges your answer and your files against the rubric.

# Outcome

${event.description}

# Rubric

${event.rubric.content}
</outcome>`
  const ask = asks[event.result]
  return (
    ask &&
    `<outcome_evaluation outcome_id="${event.outcome_id}" iteration="${event.iteration}" result="${event.result}">
This is the report of the grader, which the service passes on. It is no message of the user.

${event.explanation}

${ask}
</outcome_evaluation>`
  )
}

const asks: { [Result in EventOf<'span.outcome_evaluation_end'>['result']]?: string } = {
  needs_revision: 'Revise the work. It is judged again when you end your turn.',
  max_iterations_reached:
    'The work is judged no more. End with a short answer: what is reached, and what is not.',
}
