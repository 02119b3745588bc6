// Preloaded into a server to shift its wall clock by POSTHORN_TEST_CLOCK_SHIFT_MS. Monotonic clocks are not changed.
const shiftMs = Number(process.env.POSTHORN_TEST_CLOCK_SHIFT_MS);
const TrueDate = Date;
const now = () => TrueDate.now() + shiftMs;

globalThis.Date = new Proxy(TrueDate, {
  construct: (target, values, newTarget) =>
    Reflect.construct(
      target,
      values.length === 0 ? [now()] : values,
      newTarget === globalThis.Date ? target : newTarget,
    ),
  apply: () => new TrueDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
