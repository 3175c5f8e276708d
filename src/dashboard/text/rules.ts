import type { Language } from './languages.ts';

const fr = {
  title: 'Règles : aujourd’hui et à venir',
  lead: 'Les règles que la facture rencontre, lues dans la presse et des sources secondaires. Elles avertissent, ne refusent aucune facture et ne changent aucun montant. Ceci n’est pas un conseil juridique.',
  failed: 'Les règles ne peuvent pas être lues pour le moment.',
  applies: 'Ce qui s’applique aujourd’hui',
  comes: 'Ce qui vient',
  /** The state of a rule. */
  law: 'En vigueur ou adoptée',
  announced: 'Annoncée, pas en vigueur',
  /** What the service does with it. */
  warns: 'Avertit',
  information: 'Information',
  off: 'Désactivée : les sources se contredisent',
  from: (day: string) => `à partir du ${day}`,
  until: (day: string) => `jusqu’au ${day}`,
  /** Before a source. */
  read: 'Source :',
};

const en: typeof fr = {
  title: 'What applies today, what comes',
  lead: 'The rules that an invoice meets, read in press and secondary sources. They warn, refuse no invoice and change no amount. This is no legal advice.',
  failed: 'The rules cannot be read at the moment.',
  applies: 'What applies today',
  comes: 'What comes',
  law: 'Law',
  announced: 'Announced, not in force',
  warns: 'Warns',
  information: 'Information',
  off: 'Off: the sources contradict each other',
  from: (day) => `from ${day}`,
  until: (day) => `until ${day}`,
  read: 'Source:',
};

const ar: typeof fr = {
  title: 'القواعد: المطبقة اليوم والمقبلة',
  lead: 'القواعد التي تهم الفاتورة، كما وردت في الصحافة ومصادر ثانوية. تنبه فقط، ولا ترفض أي فاتورة ولا تغير أي مبلغ. وليست استشارة قانونية.',
  failed: 'تتعذر قراءة القواعد حاليا.',
  applies: 'ما يطبق اليوم',
  comes: 'ما هو مقبل',
  law: 'قانون معتمد',
  announced: 'معلنة وغير سارية',
  warns: 'تنبه',
  information: 'للعلم',
  off: 'معطلة: المصادر متعارضة',
  from: (day) => `ابتداء من ${day}`,
  until: (day) => `إلى غاية ${day}`,
  read: 'المصدر:',
};

/** The texts about rules of law. The text of a rule itself comes from the service. */
export const RULE_TEXTS: Readonly<Record<Language, typeof fr>> = { fr, en, ar };
