import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { ApiError } from '../../lib/api/refusal.ts'
import { words } from '../../lib/words.ts'
import { openWithKey } from './account.ts'

export function KeyForm({ onOpen }: { onOpen: () => void }) {
  const [key, setKey] = useState('')
  const [problem, setProblem] = useState<string>()
  const opening = useMutation({
    mutationFn: openWithKey,
    onSuccess: onOpen,
    onError: (error) =>
      setProblem(
        error instanceof ApiError && error.status === 401 ? words.key.refused : error.message,
      ),
  })
  const submit = () => {
    if (key.trim() === '') setProblem(words.key.empty)
    else opening.mutate(key.trim())
  }
  return (
    <Form onSubmit={submit}>
      <Field
        label={words.key.label}
        type="password"
        placeholder={words.key.placeholder}
        value={key}
        problem={problem}
        onChange={(value) => {
          setKey(value)
          setProblem(undefined)
        }}
        autoFocus
      />
      <Button type="submit" kind="primary" size="big" isBusy={opening.isPending}>
        {words.key.submit}
      </Button>
    </Form>
  )
}
