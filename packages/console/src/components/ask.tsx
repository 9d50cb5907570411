/** Asks before what cannot be taken back, does it, and says that it was done. */
import { say } from '../lib/toasts.ts'
import { AskBefore } from './ask-before.tsx'

type Question = {
  title: string
  /** What will happen. */
  text: string
  /** A verb and its object. */
  verb: string
  /** What is said afterwards. */
  done: string
}

type ByName = (name: string) => string

/** The sentences of a noun that say what becomes of one that is archived, or deleted. */
type ArchiveWords = {
  archiveTitle: ByName
  archiveText: string
  archiveVerb: string
  archivedNow: ByName
}
type RemoveWords = { removeTitle: ByName; removeText: string; removeVerb: string; removed: ByName }

const archiveQuestion = (own: ArchiveWords, name: string): Question => ({
  title: own.archiveTitle(name),
  text: own.archiveText,
  verb: own.archiveVerb,
  done: own.archivedNow(name),
})

export const removeQuestion = (own: RemoveWords, name: string): Question => ({
  title: own.removeTitle(name),
  text: own.removeText,
  verb: own.removeVerb,
  done: own.removed(name),
})

type AskProps = {
  question: Question
  isBusy: boolean
  error: Error | null
  /** Does it, and calls back when it was done. */
  run: (onDone: () => void) => void
  onClose: () => void
  /** Once it was done; without it, the dialog only closes. */
  onDone?: () => void
}

export function Ask({ question, isBusy, error, run, onClose, onDone = onClose }: AskProps) {
  const { title, text, verb, done } = question
  const finish = () => {
    say({ kind: 'done', text: done })
    onDone()
  }
  return (
    <AskBefore
      isDanger
      title={title}
      verb={verb}
      action={{ isPending: isBusy, error }}
      onClose={onClose}
      onConfirm={() => run(finish)}
    >
      {text}
    </AskBefore>
  )
}

type Ending = {
  isPending: boolean
  error: Error | null
  mutate: (nothing: undefined, options: { onSuccess: () => void }) => void
}

/** Asks before a thing is archived, or deleted. */
export function AskEnding({
  asked,
  own,
  name,
  archive,
  remove,
  onClose,
  onRemoved,
}: {
  /** Which of the two is asked for; nothing is shown for anything else. */
  asked: string | undefined
  own: ArchiveWords & RemoveWords
  name: string
  archive: Ending
  remove: Ending
  onClose: () => void
  onRemoved: () => void
}) {
  if (asked !== 'archive' && asked !== 'remove') return null
  const [ending, question] =
    asked === 'archive'
      ? [archive, archiveQuestion(own, name)]
      : [remove, removeQuestion(own, name)]
  return (
    <Ask
      question={question}
      isBusy={ending.isPending}
      error={ending.error}
      run={(onSuccess) => ending.mutate(undefined, { onSuccess })}
      onClose={onClose}
      onDone={asked === 'archive' ? onClose : onRemoved}
    />
  )
}
