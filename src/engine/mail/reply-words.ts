/** Names of the header that contains the sender of a quoted message, separated by `|`. */
export const FROM_NAMES = [
  'From|Von|De|Da|Van|Från|Fra|Lähettäjä|Od|Feladó|De la|От|Від|Kimden|Gönderen|差出人|发件人|寄件者|보낸 사람',
  'Mittente|Nadawca|Expeditorul|Отправитель|Від кого|Από|Dari|Từ|จาก|من|מאת',
].join('|');

/** Names of the header that contains the date of a quoted message. */
export const SENT_NAMES = [
  'Sent|Date|Gesendet|Datum|Envoyé|Envoyé le|Enviado|Enviado el|Fecha|Enviada em|Data|Inviato|Verzonden|Skickat|Sendt',
  'Lähetetty|Wysłano|Odesláno|Odoslané|Elküldve|Trimis|Отправлено|Дата|Надіслано|Tarih|Gönderildi|送信日時|日時|发送时间',
  '日期|寄件日期|보낸 날짜|날짜|Dato|Päivämäärä|Päiväys|Dátum|Dată|Відправлено|Gönderilen|Στάλθηκε|Ημερομηνία|Изпратено|Enviat',
  'Dikirim|Tanggal|Đã gửi|Ngày|ส่ง|วันที่|تاريخ الإرسال|تم الإرسال|التاريخ|נשלח|תאריך',
].join('|');

/** Names of all other headers of quoted messages: recipients, subject, importance and attachments. */
export const OTHER_HEADER_NAMES = [
  // Recipients
  'To|An|À|Para|A|Aan|Till|Til|Vastaanottaja|Do|Komu|Címzett|Către|Кому|Kime|宛先|收件人|收件者|받는 사람|Pour|Pre|Adresat|Destinatarul',
  'Προς|До|Per a|Kepada|Đến|ถึง|إلى|אל',
  'Cc|Bcc|Kopie|Kopie (CC)|Kopio|Másolat|Másolatot kap|Kopi|Dw|Копия|Копія|Kopia|Kópia|Bilgi|Copie à|抄送|副本|참조|Κοινοποίηση',
  'Reply-To|Antwort an|Répondre à|Responder a|Rispondi a|Antwoord aan|Svara till|Svar til|Vastaus|Odpověď na|Válaszcím|Ответ-Кому',
  // Subject
  'Subject|Betreff|Objet|Sujet|Asunto|Assunto|Oggetto|Onderwerp|Ämne|Emne|Aihe|Temat|Předmět|Predmet|Tárgy|Subiect|Subiectul',
  'Тема|Konu|件名|主题|主旨|제목|Θέμα|Относно|Assumpte|Subjek|Perihal|Chủ đề|เรื่อง|الموضوع|נושא',
  // Importance
  'Importance|Priority|Wichtigkeit|Priorität|Importancia|Importância|Prioridad|Prioridade|Priorità|Urgentie|Prioriteit|Prioritet',
  'Viktighet|Tärkeys|Ważność|Důležitost|Dôležitosť|Fontosság|Importanță|Важность|Важливість|Önem|重要度|重要性|중요도',
  // Attachments
  'Attachment|Attachments|Anlage|Anlagen|Anhänge|Pièce jointe|Pièces jointes|Datos adjuntos|Anexo|Anexos|Allegato|Allegati|Bijlage',
  'Bijlagen|Bifogade filer|Vedhæftede filer|Vedlegg|Liitteet|Załączniki|Přílohy|Prílohy|Mellékletek|Atașări|Вложения|Вкладення|Ekler|添付ファイル|附件|첨부 파일',
].join('|');

/** Titles between dashes above a quoted or forwarded message. */
export const SEPARATOR_TITLES = [
  'Original Message|Original Appointment|Forwarded message|Reply message|Ursprüngliche Nachricht|Originalnachricht',
  "Weitergeleitete Nachricht|Message d'origine|Message original|Message transféré|Message transmis|Mensaje original",
  'Mensaje reenviado|Mensagem original|Mensagem encaminhada|Mensagem reencaminhada|Messaggio originale|Messaggio inoltrato',
  'Oorspronkelijk bericht|Doorgestuurd bericht|Ursprungligt meddelande|Ursprungligt mejl|Vidarebefordrat meddelande',
  'Opprinnelig melding|Videresendt melding|Oprindelig meddelelse|Oprindelig besked|Videresendt meddelelse|Alkuperäinen viesti',
  'Edelleenlähetetty viesti|Välitetty viesti|Välitetty viesti / Fwd.Msg|Oryginalna wiadomość|Wiadomość oryginalna|Przekazana wiadomość',
  'Treść przekazanej wiadomości|Původní zpráva|Původní e-mail|Přeposlaná zpráva|Pôvodná správa|Preposlaná správa',
  'Eredeti üzenet|Továbbított üzenet|Mesaj original|Mesaj redirecționat|Исходное сообщение|Пересылаемое сообщение',
  'Перенаправленное сообщение|Оригінальне повідомлення|Перенаправлене повідомлення|Переслане повідомлення|Orijinal İleti',
  'İletilmiş Mesaj|İletilen İleti|元のメッセージ|転送されたメッセージ|原始邮件|原始郵件|转发的邮件|轉寄的郵件|원본 메시지',
  'Αρχικό μήνυμα|Оригинално писмо|Missatge original|Pesan Asli|הודעה מקורית',
].join('|');

/** Lines with which Apple Mail introduces a forwarded message, without the colon at the end. */
export const FORWARD_TITLES = [
  'Begin forwarded message|Anfang der weitergeleiteten Nachricht|Début du message réexpédié|Début du message transféré',
  'Inicio del mensaje reenviado|Início da mensagem reencaminhada|Início da mensagem encaminhada|Inizio messaggio inoltrato',
  'Begin doorgestuurd bericht|Vidarebefordrat mejl|Videresendt melding|Start på videresendt besked|Välitetty viesti alkaa',
  'Początek przekazywanej wiadomości|Začátek přeposílané zprávy|Začiatok preposlanej správy|Továbbított levél kezdete',
  'Începe mesajul redirecționat|Начало переадресованного сообщения|Початок листа, що пересилається|İleti başlangıcı',
  '下面是被转发的邮件|開始轉寄郵件|بداية الرسالة المحولة',
].join('|');
