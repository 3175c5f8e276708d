/**
 * A `LIMIT` by the SQL parameter `parameter`. SQLite's planner looks at the value of a plain `LIMIT ?`, and therefore
 * parses and plans the statement again each time the parameter is bound, which takes several times as long as the
 * statement itself. It does not look into an expression.
 */
export function limitedBy(parameter = '?'): string {
  return `LIMIT ${parameter} + 0`;
}
